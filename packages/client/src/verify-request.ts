import type { KeyObject } from 'node:crypto';
import { actions } from '../../../src/protocol/actions.ts';
import type { Context } from '../../../src/protocol/context.ts';
import {
  type OnDiscoverMessage,
  readTruncated,
  truncatedHeader,
} from '../../../src/protocol/discover-messages.ts';
import { receivedActions } from '../../../src/protocol/endpoints.ts';
import { parseEnvelope } from '../../../src/protocol/envelope.ts';
import { ProtocolError } from '../../../src/protocol/errors.ts';
import { identityOf, namesIdentity } from '../../../src/protocol/identity.ts';
import { isJsonObject, parseJson } from '../../../src/protocol/json.ts';
import { parsePublicKey } from '../../../src/protocol/keys.ts';
import { scanMessageId } from '../../../src/protocol/message-id-scan.ts';
import type { OnPublishMessage, PublishMessage } from '../../../src/protocol/publish-messages.ts';
import type { OnPullMessage } from '../../../src/protocol/pull-messages.ts';
import {
  chainValues,
  checkSignatureForm,
  checkSignatureWindow,
  parseSignatureHeader,
  type SignatureHeader,
  verifySignature,
} from '../../../src/protocol/request-signature.ts';
import { asSignpostError } from './errors.ts';
import { defaultRegistryName } from './registry.ts';

export const receivable = receivedActions.map((name) => actions[name]);

export type ReceivedMessage = Verified &
  (
    | { action: 'catalog/on_publish'; context: Context; message: OnPublishMessage }
    | { action: 'catalog/on_pull'; context: Context; message: OnPullMessage }
    | {
        action: 'on_discover';
        context: Context;
        message: OnDiscoverMessage;
        /** Number of its resources, if the service reports that the answer was cut: use pages to get the others. */
        truncated?: number;
      }
    | { action: 'catalog/push'; context: Context; message: PublishMessage }
  );

export interface Verified {
  /** Identity of the signer, `namespace/registry`. */
  signer: string;
  /** Base address of the signer in the registry, if `resolveKey` returned it. */
  signerUrl?: string;
  /** The recordId of its key. */
  keyId: string;
  /** The signed digest of the body. */
  digest: string;
  /** The text of the signature, which the answer signs. */
  signature: string;
  /** Whether a callback signs the signature of its request. */
  chained: boolean;
}

export interface VerifyOptions {
  /** The public key of a signature, as text of a registry record or as KeyObject; undefined if there is no usable one. */
  resolveKey(signer: { subscriberId: string; keyId: string }): ResolvedKey | Promise<ResolvedKey>;
  /** The Authorization headers of your request with this messageId, one per attempt: a callback signs one of their signatures. */
  findSent?(messageId: string): readonly string[] | Promise<readonly string[]>;
  /** The expected action at this address; default: the one in `context.action`. */
  action?: ReceivedMessage['action'];
  /** Refuses callbacks that do not sign the signature of their request (default false: some peers send none). */
  requireCallbackChain?: boolean;
  registryName?: string;
  now?: Date;
  /** Maximum lead of the sender's clock (default 60). */
  clockSkewSeconds?: number;
  /** Maximum validity of a signature (default 7,200). */
  maxSignatureSeconds?: number;
}

export type ResolvedKey =
  | string
  | KeyObject
  /** `subscriberId` is the `subscriber_id` in the registry record, by which the context may name the sender, and `url` the address there. */
  | { publicKey: string | KeyObject; subscriberId?: string; url?: string }
  | undefined;

export type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a received message over its original bytes (catalog spec: Authentication), without files or network. It throws the first failure in
 * this order: header → time window → key → signature → JSON, context, schema → named caller.
 */
export async function verifyRequest(
  rawBody: Uint8Array,
  headers: HeaderSource,
  options: VerifyOptions,
): Promise<ReceivedMessage> {
  try {
    return await verify(rawBody, headers, options);
  } catch (error) {
    throw asSignpostError(error, scanMessageId(rawBody));
  }
}

async function verify(body: Uint8Array, headers: HeaderSource, options: VerifyOptions) {
  const { now = new Date(), clockSkewSeconds = 60, maxSignatureSeconds = 7_200 } = options;
  const header = parseSignatureHeader(authorizationOf(headers));
  checkSignatureWindow(header, now, { clockSkewSeconds, maxSignatureSeconds });
  const { publicKey, subscriberId, url } = await resolveKey(header, options);
  const answering = header.chained ? await findAnswered(body, options) : [];
  const { digest } = verifySignature(header, publicKey, body, answering);
  const action = findAction(body, options.action);
  checkSignatureForm(header, action.kind, options.requireCallbackChain);
  const { context: sent, message } = parseEnvelope(body, action, now);
  // A push, the only request, may omit its sender's id.
  const context = action.kind === 'request' ? { bppId: header.subscriberId, ...sent } : sent;
  const { registryName = defaultRegistryName } = options;
  const signer = identityOf(header.subscriberId, registryName);
  const isCallersOwn =
    action.kind === 'callback' || namesIdentity(context.bppId ?? '', signer, subscriberId, registryName);
  const problem = `The context names ${context.bppId}, but ${signer} signed.`;
  if (!isCallersOwn) throw new ProtocolError('AUT_UNAUTHORIZED_ACTION', problem, { path: '$.context.bppId' });
  const verified: Verified = {
    ...{ signer, signerUrl: url, keyId: header.recordId, digest },
    ...{ signature: header.signature, chained: header.chained },
  };
  const truncated =
    action === actions.onDiscover && readTruncated([headerOf(headers, truncatedHeader)].flat()[0]);
  return {
    ...{ ...verified, action: action.name, context, message },
    ...(typeof truncated === 'number' && { truncated }),
  } as ReceivedMessage;
}

function authorizationOf(headers: HeaderSource): string {
  const value = headerOf(headers, 'authorization');
  if (value === undefined)
    throw new ProtocolError('AUT_SIGNATURE_MISSING', 'The request has no Authorization header.');
  if (Array.isArray(value))
    throw new ProtocolError('AUT_SIGNATURE_INVALID', 'The request has more than one Authorization header.');
  return value;
}

export function headerOf(headers: HeaderSource, wanted: string): string | string[] | undefined {
  if (headers instanceof Headers) return headers.get(wanted) ?? undefined;
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

async function resolveKey(
  { subscriberId, recordId }: SignatureHeader,
  options: VerifyOptions,
): Promise<{ publicKey: KeyObject; subscriberId?: string; url?: string }> {
  const found = await options.resolveKey({ subscriberId, keyId: recordId });
  if (found === undefined)
    throw new ProtocolError('AUT_KEY_NOT_FOUND', `There is no usable key ${recordId} of ${subscriberId}.`);
  const key = typeof found === 'object' && 'publicKey' in found ? found : { publicKey: found };
  const { publicKey } = key;
  return { ...key, publicKey: typeof publicKey === 'string' ? parsePublicKey(publicKey) : publicKey };
}

/** The body is not verified yet, so it is only searched for the id, and not parsed into a tree. */
async function findAnswered(body: Uint8Array, { findSent }: VerifyOptions): Promise<string[]> {
  const messageId = scanMessageId(body);
  const sent = messageId === undefined ? [] : ((await findSent?.(messageId)) ?? []);
  return sent.flatMap(chainValues);
}

function findAction(body: Uint8Array, expected: string | undefined): (typeof receivable)[number] {
  const name = expected ?? actionIn(body);
  const action = receivable.find((one) => one.name === name);
  if (action) return action;
  const problem = `A participant does not receive ${String(name)}.`;
  throw new ProtocolError('CTX_ACTION_MISMATCH', problem, { path: '$.context.action' });
}

function actionIn(body: Uint8Array): unknown {
  const document = parseJson(body);
  return isJsonObject(document) && isJsonObject(document.context) ? document.context.action : undefined;
}
