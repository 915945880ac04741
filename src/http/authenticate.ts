import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Action } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { scanMessageId } from '../protocol/message-id-scan.ts';
import { type KeyLookup, type ParticipantRecord, requireKey } from '../protocol/registry-record.ts';
import {
  checkSignatureForm,
  checkSignatureWindow,
  parseSignatureHeader,
  type SignatureHeader,
  type SignatureLimits,
  verifySignature,
  verifySignatureInThread,
} from '../protocol/request-signature.ts';
import { declaredLength } from './read-body.ts';

/**
 * Authenticates the sender (catalog spec: Authentication), in this order; the answer has the first failure:
 *
 *   parseClaim     header present → well-formed → form that the action requires → time window
 *   findSigner     key lookup
 *   (the body is read)
 *   verifySigner   signature over the raw bytes
 *
 * The header's claims are checked before the body is read: bodies of unknown senders are not worth reading.
 */
export function parseClaim(
  authenticator: Authenticator,
  action: Action,
  request: IncomingMessage,
  now: Date,
): SignatureHeader {
  const header = parseSignatureHeader(authorizationOf(request));
  checkSignatureForm(header, action.kind, authenticator.limits.requireCallbackChain);
  checkBodiless(action, declaredLength(request) ?? 0);
  checkSignatureWindow(header, now, windowLimits(action, authenticator));
  return header;
}

/** Nothing binds a request without a body to its method and address: anybody who has seen its signature can use it until it expires. */
const maxBodilessSeconds = 600;

function windowLimits({ body }: Action, { limits }: Authenticator): SignatureLimits {
  if (body !== undefined) return limits;
  return { ...limits, maxSignatureSeconds: Math.min(limits.maxSignatureSeconds, maxBodilessSeconds) };
}

/** The key that the header names. `source` is the origin of the request: see KeyQuestion. */
export async function findSigner(
  { findKey, registryName }: Authenticator,
  header: SignatureHeader,
  source: string,
): Promise<ClaimedSigner> {
  const { subscriberId, recordId } = header;
  const { publicKey, record } = requireKey(await findKey(subscriberId, recordId, { source }));
  return { header, identity: identityOf(subscriberId, registryName), record, publicKey };
}

export async function verifySigner(
  authenticator: Authenticator,
  action: Action,
  { publicKey, ...signer }: ClaimedSigner,
  /** `amongOthers`: other requests can be processed meanwhile. */
  { body, amongOthers = false }: { body: Buffer; amongOthers?: boolean },
): Promise<AuthenticatedCaller> {
  checkBodiless(action, body.length);
  // Without other work, a thread costs more time than it saves.
  const check = amongOthers ? verifySignatureInThread : verifySignature;
  const { header } = signer;
  const sent = header.chained ? await findAnswered(authenticator, signer, body) : undefined;
  const { digest } = await check(header, publicKey, body, sent);
  return { ...signer, digest };
}

export type FindKey = (subscriberId: string, recordId: string, question?: KeyQuestion) => Promise<KeyLookup>;

/** The party on whose behalf the registry is asked: made-up keyIds of one source must not delay the lookups of others. */
export interface KeyQuestion {
  source?: string;
}

export interface Authenticator {
  /** Throws a ProtocolError NET_DOWNSTREAM_UNAVAILABLE if the registry could not be asked. */
  findKey: FindKey;
  registryName: string;
  limits: SignatureLimits & { requireCallbackChain?: boolean };
  /** The values by which an answer may name our request with this messageId (`chainValues` of each attempt). */
  findSentRequest?: (messageId: string) => Promise<readonly string[]>;
  /** Callbacks whose bodies are too large to parse before their signature is verified. Without it, they are refused. */
  largeCallbacks?: LargeCallbacks;
}

export interface LargeCallbacks {
  /** Whether an open request was sent to this signer, identified by its record. */
  isAwaited(identity: string, record: ParticipantRecord): Promise<boolean>;
  scan(body: Buffer): Promise<string | undefined>;
}

/** The claimed sender, with the key that must have signed. */
interface ClaimedSigner {
  header: SignatureHeader;
  identity: string;
  record: ParticipantRecord;
  publicKey: KeyObject;
}

export interface AuthenticatedCaller extends Omit<ClaimedSigner, 'publicKey'> {
  digest: string;
}

/** Maximum size of a body that is parsed before its signature is verified. */
export const maxUnverifiedParseBytes = 64 * 1024;

/** Throws for a four-line signature whose body is too large to find the answered request, unless this signer owes us an answer. */
export async function checkAnswerIsAwaited(
  { largeCallbacks }: Authenticator,
  { header, identity, record }: Omit<ClaimedSigner, 'publicKey'>,
  bytes: number | undefined,
): Promise<void> {
  if (!header.chained || bytes === undefined || bytes <= maxUnverifiedParseBytes) return;
  if (!(await largeCallbacks?.isAwaited(identity, record)))
    throw invalid('The signature answers a request, and no request to its signer is open here.');
}

async function findAnswered(
  authenticator: Authenticator,
  signer: Omit<ClaimedSigner, 'publicKey'>,
  body: Buffer,
): Promise<readonly string[]> {
  const { findSentRequest, largeCallbacks } = authenticator;
  await checkAnswerIsAwaited(authenticator, signer, body.length);
  const messageId =
    body.length <= maxUnverifiedParseBytes ? scanMessageId(body) : await largeCallbacks?.scan(body);
  return messageId === undefined ? [] : ((await findSentRequest?.(messageId)) ?? []);
}

/** Node keeps only the first of repeated headers; a proxy may have checked another one, so none counts. */
export function authorizationOf({ rawHeaders, headers }: IncomingMessage): string {
  const value = headers.authorization;
  if (value === undefined)
    throw new ProtocolError('AUT_SIGNATURE_MISSING', 'The request has no Authorization header.');
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') found += 1;
  }
  if (found > 1) throw invalid('The request has more than one Authorization header.');
  return value;
}

/** GET and DELETE sign zero bytes: if a body were allowed, the receiver of a signed message could forward it as a DELETE. */
function checkBodiless({ method, body: schema }: Action, bytes: number): void {
  if (schema === undefined && bytes > 0) throw invalid(`A ${method} is signed, and sent, without a body.`);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', message);
}
