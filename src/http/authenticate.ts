import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Action } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import { scanMessageId } from '../protocol/message-id-scan.ts';
import type { KeyLookup, ParticipantRecord } from '../protocol/registry-record.ts';
import {
  checkSignatureWindow,
  parseSignatureHeader,
  type SignatureHeader,
  type SignatureLimits,
  verifySignature,
  verifySignatureInThread,
} from '../protocol/request-signature.ts';
import { declaredLength } from './read-body.ts';

/**
 * Who sent this? (catalog spec: Authentication.) In this order, the first failure answers:
 *
 *   parseClaim     header present → well-formed → form that the action asks for → time window
 *   findSigner     key lookup
 *   (the body is read)
 *   verifySigner   signature over the raw bytes
 *
 * What the header claims is judged before the body is read: bodies of nobody are not worth their bytes.
 */
export function parseClaim(
  authenticator: Authenticator,
  action: Action,
  request: IncomingMessage,
  now: Date,
): SignatureHeader {
  const header = parseSignatureHeader(authorizationOf(request));
  checkForm(header, action, authenticator);
  checkBodiless(action, declaredLength(request) ?? 0);
  checkSignatureWindow(header, now, windowLimits(action, authenticator));
  return header;
}

/** Nothing binds a request without body to its method and address: whoever has seen its signature may use it until it expires. */
const maxBodilessSeconds = 600;

function windowLimits({ body }: Action, { limits }: Authenticator): SignatureLimits {
  if (body !== undefined) return limits;
  return { ...limits, maxSignatureSeconds: Math.min(limits.maxSignatureSeconds, maxBodilessSeconds) };
}

/** The key that the header names. `source` is where the request comes from: see KeyQuestion. */
export async function findSigner(
  { findKey, registryName }: Authenticator,
  header: SignatureHeader,
  source: string,
): Promise<ClaimedSigner> {
  const { subscriberId, recordId } = header;
  const { publicKey, record } = usableKey(await findKey(subscriberId, recordId, { source }));
  return { header, identity: identityOf(subscriberId, registryName), record, publicKey };
}

export async function verifySigner(
  authenticator: Authenticator,
  action: Action,
  { publicKey, ...signer }: ClaimedSigner,
  { body, amongOthers = false }: SignedMessage,
): Promise<AuthenticatedCaller> {
  checkBodiless(action, body.length);
  // The way to another thread and back takes longer than it saves where there is nothing else to do.
  const check = amongOthers ? verifySignatureInThread : verifySignature;
  const { header } = signer;
  const sent = header.chained ? await findAnswered(authenticator, signer, body) : undefined;
  const { digest } = await check(header, publicKey, body, sent);
  return { ...signer, digest };
}

export type FindKey = (subscriberId: string, recordId: string, question?: KeyQuestion) => Promise<KeyLookup>;

/** On whose behalf the registry is asked: keyIds that one source makes up must not hold up the lookups of others. */
export interface KeyQuestion {
  source?: string;
}

export interface Authenticator {
  /** Throws a ProtocolError NET_DOWNSTREAM_UNAVAILABLE when the registry could not be asked. */
  findKey: FindKey;
  /** The registry that a bare domain belongs to. */
  registryName: string;
  limits: SignatureLimits & { requireCallbackChain?: boolean };
  /** By what an answer may name a request with this messageId that was sent from here (`chainValues` of each attempt). */
  findSentRequest?: (messageId: string) => Promise<readonly string[]>;
  /** Callbacks whose bodies are too large to be looked into before their signature is verified. Without it, they are refused. */
  largeCallbacks?: LargeCallbacks;
}

export interface LargeCallbacks {
  /** Whether a request is open that this signer, as its record shows it, was asked. */
  isAwaited(identity: string, record: ParticipantRecord): Promise<boolean>;
  /** `scanMessageId` in another thread. */
  scan(body: Buffer): Promise<string | undefined>;
}

interface SignedMessage {
  body: Buffer;
  /** Whether other requests can be worked on while the signature of this one is verified. */
  amongOthers?: boolean;
}

/** Who the header says that it is, with the key that must have signed. */
interface ClaimedSigner {
  header: SignatureHeader;
  identity: string;
  record: ParticipantRecord;
  publicKey: KeyObject;
}

export interface AuthenticatedCaller extends Omit<ClaimedSigner, 'publicKey'> {
  /** Digest of the body. */
  digest: string;
}

/** The most that is parsed of a body before its signature is verified. */
export const maxUnverifiedParseBytes = 64 * 1024;

/**
 * A four-line signature can only be verified with the request that it answers, which the body names. Throws for a body that is too large
 * to look for that, unless this signer owes us an answer. `bytes` is undefined while the length is not known.
 */
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

/** Node keeps only the first of repeated headers; which one a proxy judged nobody can know, so none counts. */
export function authorizationOf({ rawHeaders, headers }: IncomingMessage): string {
  const value = headers.authorization;
  if (value === undefined) {
    throw new ProtocolError('AUT_SIGNATURE_MISSING', 'The request has no Authorization header.');
  }
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') found += 1;
  }
  if (found > 1) throw invalid('The request has more than one Authorization header.');
  return value;
}

/** A callback may name the request that it answers, and must where the operator says so; a request, push included, never does. */
function checkForm(header: SignatureHeader, action: Action, { limits }: Authenticator): void {
  if (action.kind === 'request' && header.chained) {
    throw invalid('A request is signed over "(created) (expires) digest" and answers no other.');
  }
  if (action.kind === 'callback' && !header.chained && limits.requireCallbackChain) {
    throw invalid('A callback must sign the signature of the request that it answers.');
  }
}

/**
 * GET and DELETE sign zero bytes. Nothing else in a signature tells one method from another: with a body allowed, whoever received a
 * signed message could send it on as a DELETE.
 */
function checkBodiless({ method, body: schema }: Action, bytes: number): void {
  if (schema === undefined && bytes > 0) throw invalid(`A ${method} is signed, and sent, without a body.`);
}

function usableKey(lookup: KeyLookup): Extract<KeyLookup, { kind: 'key' }> {
  switch (lookup.kind) {
    case 'key':
      return lookup;
    case 'unusable':
      throw new ProtocolError('AUT_KEY_EXPIRED_OR_REVOKED', `The key cannot be used: ${lookup.reason}.`);
    case 'unknown-key':
      throw new ProtocolError(
        'AUT_KEY_NOT_FOUND',
        `The registry has no such key of this subscriber${lookup.reason ? `: ${lookup.reason}` : ''}.`,
      );
    case 'unknown-subscriber':
      throw new ProtocolError('AUT_SUBSCRIBER_NOT_FOUND', 'The registry does not know this subscriber.');
  }
}

function invalid(message: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', message);
}
