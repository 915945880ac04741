import type { IncomingMessage } from 'node:http';
import type { Action } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { identityOf } from '../protocol/identity.ts';
import type { KeyLookup, ParticipantRecord } from '../protocol/registry-record.ts';
import {
  checkSignatureWindow,
  parseSignatureHeader,
  type SignatureHeader,
  type SignatureLimits,
  verifySignature,
  verifySignatureInThread,
} from '../protocol/request-signature.ts';

/**
 * Who sent this? (catalog spec: Authentication.) In this order, the first failure answers:
 * header present → well-formed → time window → key lookup → signature over the raw bytes.
 */
export async function authenticate(
  authenticator: Authenticator,
  action: Action,
  request: IncomingMessage,
  message: SignedMessage,
): Promise<AuthenticatedCaller> {
  const header = parseSignatureHeader(authorizationOf(request));
  checkForm(header, action, authenticator);
  checkBodiless(action, message.body);
  checkSignatureWindow(header, message.now, authenticator.limits);
  const { publicKey, record } = usableKey(await authenticator.findKey(header.subscriberId, header.recordId));
  const { digest } = await verify(authenticator, header, publicKey, message);
  const identity = identityOf(header.subscriberId, authenticator.registryName);
  return { header, identity, record, digest };
}

export type FindKey = (subscriberId: string, recordId: string) => Promise<KeyLookup>;

export interface Authenticator {
  /** Throws a ProtocolError NET_DOWNSTREAM_UNAVAILABLE when the registry could not be asked. */
  findKey: FindKey;
  /** The registry that a bare domain belongs to. */
  registryName: string;
  limits: SignatureLimits & { requireCallbackChain?: boolean };
  /** By what an answer may name a request with this messageId that was sent from here (`chainValues` of each attempt). */
  findSentRequest?: (messageId: string) => Promise<readonly string[]>;
}

export interface SignedMessage {
  body: Buffer;
  /** Reads the messageId out of the body, however large. */
  messageId: () => string | undefined;
  now: Date;
  /** Whether other requests can be worked on while the signature of this one is verified. */
  amongOthers?: boolean;
}

export interface AuthenticatedCaller {
  header: SignatureHeader;
  identity: string;
  record: ParticipantRecord;
  /** Of the body. */
  digest: string;
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
function checkBodiless({ method, body: schema }: Action, body: Buffer): void {
  if (schema === undefined && body.length > 0)
    throw invalid(`A ${method} is signed, and sent, without a body.`);
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

async function verify(
  { findSentRequest }: Authenticator,
  header: SignatureHeader,
  publicKey: Parameters<typeof verifySignature>[1],
  { body, messageId, amongOthers = false }: SignedMessage,
): Promise<{ digest: string }> {
  // The way to another thread and back takes longer than it saves where there is nothing else to do.
  const check = amongOthers ? verifySignatureInThread : verifySignature;
  if (!header.chained) return await check(header, publicKey, body);
  const id = messageId();
  const sent = id === undefined ? [] : ((await findSentRequest?.(id)) ?? []);
  return await check(header, publicKey, body, sent);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', message);
}
