import { type KeyObject, sign, verify } from 'node:crypto';
import { attempt } from '../attempt.ts';
import { findBase64url } from './base64.ts';
import { ProtocolError } from './errors.ts';
import { isJsonObject, type Json, parseJson } from './json.ts';

/**
 * A detached JSON Web Signature with unencoded payload (RFC 7515 appendix F, RFC 7797): `<header>..<signature>`. We use it for all signatures,
 * because the self-hosted spec leaves the encoding open. `kid` names the registry record of the key; in a `proof` another member names the key.
 */
export function signJws(payload: Uint8Array, key: { privateKey: KeyObject; kid?: string }): string {
  const { input, write } = prepareJws([payload], key.kid);
  return write(sign(null, input, key.privateKey));
}

/** The bytes to sign, and the text made from their signature, for callers that sign elsewhere or have the bytes in parts. */
export function prepareJws(payload: readonly Uint8Array[], kid?: string) {
  const header = { alg: 'EdDSA', b64: false, crit: ['b64'], kid };
  const encodedHeader = Buffer.from(JSON.stringify(header)).toString('base64url');
  return {
    input: signingInput(encodedHeader, payload),
    write: (signature: Buffer) => `${encodedHeader}..${signature.toString('base64url')}`,
  };
}

export function parseJws(text: string): DetachedJws {
  const [encodedHeader = '', payload, encodedSignature = '', ...more] = text.split('.');
  const signature = findBase64url(encodedSignature);
  if (payload !== '' || more.length > 0 || signature?.length !== signatureBytes)
    throw invalid('the signature is not a detached JWS, <header>..<signature>');
  return { encodedHeader, signature, kid: parseHeader(encodedHeader) };
}

export function jwsHolds(jws: DetachedJws, payload: Uint8Array, publicKey: KeyObject): boolean {
  return verify(null, signingInput(jws.encodedHeader, [payload]), publicKey, jws.signature);
}

/** Accepts only one header, its members in any order, because it decides how the rest is read: an unknown member could change the meaning. */
function parseHeader(encoded: string): string | undefined {
  const header = findHeader(encoded);
  const { alg, b64, crit, kid, ...unknown } = isJsonObject(header) ? header : {};
  const known =
    alg === 'EdDSA' && b64 === false && Array.isArray(crit) && crit.length === 1 && crit[0] === 'b64';
  const named = kid === undefined || (typeof kid === 'string' && kid !== '');
  if (!known || !named || Object.keys(unknown).length > 0)
    throw invalid(
      'the header of the JWS must be {"alg":"EdDSA","b64":false,"crit":["b64"]}, with or without a kid',
    );
  return kid;
}

function invalid(message: string): ProtocolError {
  return new ProtocolError('AUT_SIGNATURE_INVALID', message);
}

function findHeader(encoded: string): Json | undefined {
  const bytes = findBase64url(encoded);
  return bytes && attempt(() => parseJson(bytes));
}

function signingInput(encodedHeader: string, payload: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(`${encodedHeader}.`, 'ascii'), ...payload]);
}

const signatureBytes = 64;

interface DetachedJws {
  encodedHeader: string;
  signature: Buffer;
  kid: string | undefined;
}
