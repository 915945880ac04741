import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { findAnyBase64, findBase64 } from './base64.ts';
import { ProtocolError } from './errors.ts';

/** An Ed25519 key with the name under which the identity registry knows it (catalog spec: Authentication, keyId). */
export interface SigningKey {
  subscriberId: string;
  recordId: string;
  privateKey: KeyObject;
}

const keyBytes = 32;
/** DER around a raw Ed25519 key (RFC 8410): OneAsymmetricKey and SubjectPublicKeyInfo. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** A new private key as the settings hold it: 32 random bytes in Base64. */
export function generateSeed(): string {
  return randomBytes(keyBytes).toString('base64');
}

/** Seeds come from our own settings, so a bad one is a plain error and no answer to a peer. */
export function privateKeyFromSeed(seed: string): KeyObject {
  const bytes = findBase64(seed.trim());
  if (bytes?.length !== keyBytes) throw new Error('an Ed25519 private key is a seed of 32 bytes in Base64');
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, bytes]), format: 'der', type: 'pkcs8' });
}

/** The public half as registry records carry it: 32 raw bytes in Base64. */
export function publicKeyOf(privateKey: KeyObject): string {
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return spki.subarray(spkiPrefix.length).toString('base64');
}

/** Reads the `signing_public_key` of a registry record in every known shape: 32 raw bytes in Base64 or base64url, SPKI DER in Base64, PEM. Anything else, and a weak key, is AUT_KEY_NOT_FOUND. */
export function parsePublicKey(text: string): KeyObject {
  const pem = /^-----BEGIN PUBLIC KEY-----([\s\S]+)-----END PUBLIC KEY-----$/.exec(text.trim());
  const bytes = findAnyBase64((pem?.[1] ?? text).replace(/\s+/g, ''));
  const raw = bytes?.length === keyBytes && pem === null ? bytes : bytes && rawKeyInSpki(bytes);
  if (raw === undefined) throw noKey('not an Ed25519 public key');
  refuseWeakPoint(raw);
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
}

function rawKeyInSpki(der: Buffer): Buffer | undefined {
  const fits =
    der.length === spkiPrefix.length + keyBytes && der.subarray(0, spkiPrefix.length).equals(spkiPrefix);
  return fits ? der.subarray(spkiPrefix.length) : undefined;
}

/**
 * With a key of small order, a signature that nobody's private key made verifies. A y coordinate past the field's prime is another spelling of a smaller one, which RFC 8032 (5.1.3) refuses. node:crypto
 * refuses neither.
 */
function refuseWeakPoint(raw: Buffer): void {
  const y = Buffer.from(raw);
  y.writeUInt8(y.readUInt8(keyBytes - 1) & 0x7f, keyBytes - 1); // the highest bit is the sign of x
  if (smallOrderPoints.some((point) => point.equals(y)))
    throw noKey('a point of small order: anyone could sign for it');
  if (y.reverse().compare(fieldPrime) >= 0)
    throw noKey('not encoded as Ed25519 asks: its y coordinate is not below 2^255 - 19');
}

function noKey(what: string): ProtocolError {
  return new ProtocolError('AUT_KEY_NOT_FOUND', `the registered key is ${what}`);
}

/** 2^255 - 19, the highest byte first. */
const fieldPrime = Buffer.from(`7f${'ff'.repeat(30)}ed`, 'hex');

/** The y coordinates of the points whose order divides 8, as encoded, those past the prime included (libsodium refuses the same ones). */
const smallOrderPoints = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
].map((hex) => Buffer.from(hex, 'hex'));
