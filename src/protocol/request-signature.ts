import { type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { findBase64 } from './base64.ts';
import { bodyDigest, spellingsOfBodyDigest } from './digest.ts';
import { ProtocolError } from './errors.ts';
import { isIdPart, isSubscriberId } from './identity.ts';
import type { SigningKey } from './keys.ts';

/**
 * The signature of a request (catalog spec: Authentication), as value of the header `Authorization`:
 *
 *   sign    body → digest → signing string → Ed25519 → header
 *   verify  header → parse → time window → (the caller looks up the key) → signing string → Ed25519
 *
 * As with deployed peers, the signing string has three lines, and a fourth one in answers: callbacks and, as response header `Signature`, every synchronous answer.
 */
export function signRequest(key: SigningKey, body: Uint8Array, options: SignOptions): string {
  return signDigest(key, bodyDigest(body), options);
}

/** For a body that is not in memory; the digest comes from `bodyDigest`. */
export function signDigest(key: SigningKey, digest: string, options: SignOptions): string {
  const created = Math.floor(options.now.getTime() / 1000);
  const expires = created + (options.lifetimeSeconds ?? signatureLifetimeSeconds);
  const text = signingString({ created, expires, digest, answering: options.answering });
  const signature = sign(null, text, key.privateKey).toString('base64');
  return [
    `Signature keyId="${key.subscriberId}|${key.recordId}|ed25519"`,
    'algorithm="ed25519"',
    `created="${created}"`,
    `expires="${expires}"`,
    `headers="${options.answering === undefined ? requestHeaders : answerHeaders}"`,
    `signature="${signature}"`,
  ].join(',');
}

/** Accepts only the template's form: one line, six attributes in its order, no other white space than the template's. */
export function parseSignatureHeader(value: string): SignatureHeader {
  const attributes = headerPattern.exec(value)?.groups;
  const { keyId = '', created, expires, headers, signature = '' } = attributes ?? {};
  const segments = keyId.split('|');
  const [subscriberId = '', recordId = '', algorithm] = segments;
  if (attributes === undefined || segments.length !== 3 || algorithm !== 'ed25519')
    throw invalid(`the signature header must have the form ${template}`);
  if (findBase64(signature)?.length !== signatureBytes)
    throw invalid('the signature is not the canonical Base64 of 64 bytes');
  if (!isSubscriberId(subscriberId) || !isIdPart(recordId)) {
    const problem = 'no registry can hold the subscriberId or recordId of this keyId';
    throw new ProtocolError('AUT_KEY_NOT_FOUND', problem);
  }
  return {
    subscriberId,
    recordId,
    created: Number(created),
    expires: Number(expires),
    signature,
    chained: headers === answerHeaders,
  };
}

/** The text of the signature in a header, whatever key it names: the answer to a refusal signs it, too. */
export function findSignatureText(value: string): string | undefined {
  const text = headerPattern.exec(value)?.groups?.signature ?? '';
  return findBase64(text)?.length === signatureBytes ? text : undefined;
}

/** How an answer may name a request: by the text of its signature, as we do, or the whole header, as one deployed peer does (protocol decision: callback chain). */
export function chainValues(authorization: string): string[] {
  return [parseSignatureHeader(authorization).signature, authorization];
}

export function checkSignatureWindow(header: SignatureHeader, now: Date, limits: SignatureLimits): void {
  const fault = findWindowFault(header, now.getTime() / 1000, limits);
  if (fault !== undefined) throw invalid(`the signature ${fault}`);
}

/** A callback may name the request that it answers, and must if the receiver requires it; a request, including push, never does. */
export function checkSignatureForm(
  { chained }: SignatureHeader,
  kind: 'request' | 'callback',
  requireCallbackChain = false,
): void {
  const fault =
    kind === 'request'
      ? chained && 'A request is signed over "(created) (expires) digest" and is not an answer.'
      : !chained &&
        requireCallbackChain &&
        'A callback must sign the signature of the request that it answers.';
  if (fault) throw new ProtocolError('AUT_SIGNATURE_INVALID', fault);
}

/** Tolerates a clock that is slightly ahead; there is no tolerance at the end, because the request memory relies on it. */
export function findWindowFault(header: SignatureHeader, now: number, limits: SignatureLimits) {
  const { created, expires } = header;
  if (created > expires) return 'expires before it was created';
  if (created > now + limits.clockSkewSeconds) return 'was created in the future: one of our clocks is wrong';
  if (expires <= now) return 'has expired';
  if (expires - created > limits.maxSignatureSeconds)
    return `is valid for more than ${limits.maxSignatureSeconds} seconds`;
  return undefined;
}

/** Checks the signature over the raw body and returns its signer. A signature of an answer verifies only with one of the values of `answering`. */
export function verifySignature(
  header: SignatureHeader,
  publicKey: KeyObject,
  body: Uint8Array,
  answering: string | readonly string[] = [],
): VerifiedSignature {
  const { texts, signature, verified } = readClaim(header, body, answering);
  if (texts.some((text) => verify(null, text, publicKey, signature))) return verified;
  throw invalid(mismatch);
}

/** The same in another thread, for callers with other work to do meanwhile: it is the most expensive step of many requests. */
export async function verifySignatureInThread(
  ...[header, publicKey, body, answering]: Parameters<typeof verifySignature>
): Promise<VerifiedSignature> {
  const { texts, signature, verified } = readClaim(header, body, answering);
  for (const text of texts) {
    if (await verifyInThread(null, text, publicKey, signature)) return verified;
  }
  throw invalid(mismatch);
}

const verifyInThread = promisify<null, Buffer, KeyObject, Buffer, boolean>(verify);

/** Every spelling in which the request's signature may be signed, and the signed request when one of them verifies. */
function readClaim(header: SignatureHeader, body: Uint8Array, answering: string | readonly string[] = []) {
  const { subscriberId, recordId, created, expires } = header;
  const chains = header.chained ? [answering].flat() : [undefined];
  if (chains.length === 0) throw invalid('the signature answers a request that is not known here');
  const digest = bodyDigest(body);
  return {
    texts: spellingsOfBodyDigest(digest).flatMap((spelling) =>
      chains.map((chain) => signingString({ created, expires, digest: spelling, answering: chain })),
    ),
    signature: Buffer.from(header.signature, 'base64'),
    verified: { subscriberId, recordId, digest },
  };
}

const mismatch = 'the signature does not match the body and the key';

function invalid(message: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', message);
}

/** The one definition of the signed bytes. */
export function signingString(parts: {
  created: number;
  expires: number;
  digest: string;
  answering?: string;
}): Buffer {
  const lines = [`(created): ${parts.created}`, `(expires): ${parts.expires}`, `digest: ${parts.digest}`];
  if (parts.answering !== undefined) lines.push(`request-signature: ${parts.answering}`);
  return Buffer.from(lines.join('\n'), 'utf8');
}

const signatureLifetimeSeconds = 300;
const signatureBytes = 64;

const requestHeaders = '(created) (expires) digest';
const answerHeaders = '(created) (expires) digest request-signature';

const template =
  'Signature keyId="<subscriber_id>|<record_id>|ed25519",algorithm="ed25519",created="<unix_timestamp>",' +
  'expires="<unix_timestamp>",headers="(created) (expires) digest",signature="<base64_signature>"';

/** Timestamps in plain decimal notation, short enough to be exact. */
const timestamp = '0|[1-9][0-9]{0,14}';
const headerPattern = new RegExp(
  [
    '^Signature keyId="(?<keyId>[^"\\s]*)"',
    'algorithm="ed25519"',
    `created="(?<created>${timestamp})"`,
    `expires="(?<expires>${timestamp})"`,
    'headers="(?<headers>\\(created\\) \\(expires\\) digest(?: request-signature)?)"',
    'signature="(?<signature>[A-Za-z0-9+/=]*)"$',
  ].join(','),
);

export interface SignOptions {
  now: Date;
  lifetimeSeconds?: number;
  answering?: string;
}

export interface SignatureHeader {
  subscriberId: string;
  recordId: string;
  created: number;
  expires: number;
  /** The text of the attribute, verbatim: an answer signs it. */
  signature: string;
  /** Whether it signs a fourth line, the signature of the answered request. */
  chained: boolean;
}

export interface SignatureLimits {
  clockSkewSeconds: number;
  maxSignatureSeconds: number;
}

interface VerifiedSignature {
  subscriberId: string;
  recordId: string;
  digest: string;
}
