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

/**
 * Reads the `signing_public_key` of a registry record in every shape that registries are known to hold: 32 raw bytes in
 * Base64 or base64url, SPKI DER in Base64, PEM. Anything else resolves to no key: AUT_KEY_NOT_FOUND.
 */
export function parsePublicKey(text: string): KeyObject {
  const pem = /^-----BEGIN PUBLIC KEY-----([\s\S]+)-----END PUBLIC KEY-----$/.exec(text.trim());
  const bytes = findAnyBase64((pem?.[1] ?? text).replace(/\s+/g, ''));
  const raw = bytes?.length === keyBytes && pem === null ? bytes : bytes && rawKeyInSpki(bytes);
  if (raw === undefined) {
    throw new ProtocolError('AUT_KEY_NOT_FOUND', 'the registered key is not an Ed25519 public key');
  }
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
}

function rawKeyInSpki(der: Buffer): Buffer | undefined {
  const fits =
    der.length === spkiPrefix.length + keyBytes && der.subarray(0, spkiPrefix.length).equals(spkiPrefix);
  return fits ? der.subarray(spkiPrefix.length) : undefined;
}
