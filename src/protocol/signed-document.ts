import { type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { findAnyBase64 } from './base64.ts';
import { type CanonicalForm, canonicalJson, goCanonicalJson, goForm, jcsForm } from './canonical-json.ts';
import { jwsHolds, parseJws, prepareJws, signJws } from './detached-jws.ts';
import { ProtocolError } from './errors.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import type { SigningKey } from './keys.ts';

/**
 * Documents with an embedded signature (self-hosted spec: Authentication): indexes, their entries, baseline and change files in a member `signature`,
 * manifests and Subscriber records in a member `proof`.
 *
 *   sign    document → signed bytes → signature → document with the member
 *   verify  document → claimed signer → (the caller looks up the key) → signed bytes → signature
 *
 * The spec leaves the encoding open. We write one form per wire profile and accept all deployed ones.
 */
export function signDocument<T extends object>(
  document: T,
  key: SigningKey,
  profile: WireProfile,
): T & Signed {
  const { signature: _, ...unsigned } = document as T & Partial<Signed>;
  const bytes = Buffer.from(formOf(profile).write(unsigned as unknown as JsonObject));
  const { input, write } = prepareSignature([bytes], key, profile);
  return { ...(unsigned as T), signature: write(sign(null, input, key.privateKey)) };
}

/** Signs in a thread, because hundreds of megabytes take a while. The pieces together are the signed bytes. */
export async function signContent(pieces: readonly Uint8Array[], key: SigningKey, profile: WireProfile) {
  const { input, write } = prepareSignature(pieces, key, profile);
  return write(await signAside(null, input, key.privateKey));
}

const signAside = promisify<null, Uint8Array, KeyObject, Buffer>(sign);

function prepareSignature(pieces: readonly Uint8Array[], { recordId }: SigningKey, profile: WireProfile) {
  if (profile === 'spec') return prepareJws(pieces, recordId);
  const write = (signature: Buffer) => {
    return { keyId: recordId, canonicalization: 'JCS', value: signature.toString('base64') };
  };
  return { input: Buffer.concat(pieces), write };
}

/** The form of the DeDi layer (manifest, Subscriber record), the same in every profile. */
export function proveDocument<T extends object>(document: T, key: SigningKey): T & Proven {
  const { proof: _, ...unsigned } = document as T & Partial<Proven>;
  const jws = signJws(signedBytes(unsigned as unknown as JsonObject), { privateKey: key.privateKey });
  const proof = { verification_method: key.recordId, canonicalization: 'JCS', jws } as const;
  return { ...(unsigned as T), proof };
}

/** The key that a document names as its signer: a claim, until `verifyDocument` has checked it. */
export function claimedKeyOf(document: JsonObject): string {
  return parseDocumentSignature(document).keyId;
}

/** Checks the signature over the document as received, never over a typed copy, and returns the name of the signing key. */
export function verifyDocument(document: JsonObject, publicKey: KeyObject): string {
  const { keyId, holds } = parseDocumentSignature(document);
  const content = contentOf(document);
  const canonical = canonicalJson(content);
  if (holds(Buffer.from(canonical), publicKey)) return keyId;
  const other = goCanonicalJson(content);
  if (other !== canonical && holds(Buffer.from(other), publicKey)) return keyId;
  throw new ProtocolError('AUT_SIGNATURE_INVALID', 'the signature does not match the document and the key');
}

/** The canonical form that a profile signs: `nfh014` crawlers verify only Go's form. */
export function formOf(profile: WireProfile): CanonicalForm {
  return profile === 'nfh014' ? goForm : jcsForm;
}

/** The one definition of the signed bytes: RFC 8785 of the document without the member with its signature. */
export function signedBytes(document: JsonObject): Buffer {
  return Buffer.from(canonicalJson(contentOf(document)));
}

function contentOf(document: JsonObject): JsonObject {
  if (document.signature !== undefined) {
    const { signature: _, ...content } = document;
    return content;
  }
  const { proof: _, ...content } = document;
  return content;
}

function parseDocumentSignature(document: JsonObject): DocumentSignature {
  const { signature, proof } = document;
  if (signature === undefined && proof === undefined)
    throw new ProtocolError('AUT_SIGNATURE_MISSING', 'the document has neither a signature nor a proof');
  if (signature !== undefined && proof !== undefined)
    throw malformed('is there twice, as signature and as proof');
  if (typeof signature === 'string') return jwsSignature(signature);
  return proof === undefined ? objectSignature(signature) : proofSignature(proof);
}

function jwsSignature(text: string): DocumentSignature {
  const jws = parseJws(text);
  if (jws.kid === undefined) throw malformed('does not name its key (kid)');
  return { keyId: jws.kid, holds: (bytes, publicKey) => jwsHolds(jws, bytes, publicKey) };
}

/** `{keyId, value, canonicalization?}`: the bare Ed25519 signature of the same bytes. */
function objectSignature(signature: Json | undefined): DocumentSignature {
  const { keyId, value } = isJsonObject(signature) ? signature : {};
  const bytes = typeof value === 'string' ? findAnyBase64(value) : undefined;
  if (!isName(keyId) || bytes?.length !== signatureBytes)
    throw malformed('is neither a JWS nor {keyId, value}');
  return { keyId, holds: (content, publicKey) => verify(null, content, publicKey, bytes) };
}

function proofSignature(proof: Json): DocumentSignature {
  const { verification_method: keyId, jws: text } = isJsonObject(proof) ? proof : {};
  if (!isName(keyId) || typeof text !== 'string')
    throw malformed('is not a proof with verification_method and jws');
  const jws = parseJws(text);
  if (jws.kid !== undefined) throw malformed('names its key a second time in the JWS of the proof');
  return { keyId, holds: (bytes, publicKey) => jwsHolds(jws, bytes, publicKey) };
}

function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function malformed(what: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', `the document's signature ${what}`);
}

const signatureBytes = 64;

/** `spec` writes JWS strings over RFC 8785; `nfh014` object signatures over Go's form, for networks whose crawlers accept only those. */
export type WireProfile = 'spec' | 'nfh014';

export interface Signed {
  signature: string | { keyId: string; canonicalization: string; value: string };
}

interface Proven {
  proof: { verification_method: string; canonicalization: 'JCS'; jws: string };
}

interface DocumentSignature {
  keyId: string;
  holds(bytes: Uint8Array, publicKey: KeyObject): boolean;
}
