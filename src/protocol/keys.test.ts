import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../tests/support/vectors.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';

interface Rfc8032Vector {
  name: string;
  seed: string;
  publicKey: string;
  message: string;
  signature: string;
}

// RFC 8032 section 7.1, TEST 2.
const embedded: Rfc8032Vector = {
  name: 'RFC 8032 7.1 TEST 2',
  seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
  publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
  message: '72',
  signature: [
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da',
    '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ].join(''),
};

function holds(vector: Rfc8032Vector): void {
  const message = Buffer.from(vector.message, 'hex');
  const signature = Buffer.from(vector.signature, 'hex');
  const privateKey = privateKeyFromSeed(Buffer.from(vector.seed, 'hex').toString('base64'));
  const publicKey = Buffer.from(vector.publicKey, 'hex').toString('base64');
  expect(publicKeyOf(privateKey), vector.name).toBe(publicKey);
  expect(sign(null, message, privateKey), vector.name).toEqual(signature);
  expect(verify(null, message, parsePublicKey(publicKey), signature), vector.name).toBe(true);
}

describe('Ed25519 keys', () => {
  it('sign and verify as RFC 8032 says', () => {
    holds(embedded);
  });

  const vectors = readVectors<Rfc8032Vector[]>('ed25519/rfc8032.json');
  it.skipIf(vectors === undefined)('hold every vector of RFC 8032 (needs the ed25519 vectors)', () => {
    vectors?.forEach(holds);
  });

  it('come from a seed of 32 bytes and from nothing else', () => {
    expect(publicKeyOf(privateKeyFromSeed(generateSeed()))).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    for (const seed of ['', 'AAAA', generateSeed().slice(0, -1), Buffer.alloc(64).toString('base64')]) {
      expect(() => privateKeyFromSeed(seed)).toThrow('seed of 32 bytes in Base64');
    }
  });
});

describe('parsePublicKey', () => {
  const raw = Buffer.from(embedded.publicKey, 'hex');
  const { x } = parsePublicKey(raw.toString('base64')).export({ format: 'jwk' });
  const der = parsePublicKey(raw.toString('base64')).export({ format: 'der', type: 'spki' });
  const pem = parsePublicKey(raw.toString('base64')).export({ format: 'pem', type: 'spki' }).toString();

  it.each([
    ['32 raw bytes in Base64', raw.toString('base64')],
    ['Base64 without padding', raw.toString('base64').replace('=', '')],
    ['base64url', raw.toString('base64url')],
    ['SPKI DER in Base64', der.toString('base64')],
    ['SPKI DER in base64url', der.toString('base64url')],
    ['PEM', pem],
    ['PEM with other line ends', pem.trim().replaceAll('\n', '\r\n')],
    ['PEM on one line', pem.replaceAll('\n', '')],
  ])('reads %s', (_, text) => {
    expect(parsePublicKey(text).export({ format: 'jwk' }).x).toBe(x);
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const own = privateKeyFromSeed(generateSeed());
  it.each([
    ['nothing', ''],
    ['text', 'not a key'],
    ['31 bytes', raw.subarray(1).toString('base64')],
    [
      'raw bytes in PEM armour',
      `-----BEGIN PUBLIC KEY-----${raw.toString('base64')}-----END PUBLIC KEY-----`,
    ],
    ['an RSA key', rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString()],
    [
      'an X25519 key',
      generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    ],
    ['a private key', own.export({ format: 'pem', type: 'pkcs8' }).toString()],
    ['a private key in DER', own.export({ format: 'der', type: 'pkcs8' }).toString('base64')],
  ])('takes %s for no key at all', (_, text) => {
    expect(() => parsePublicKey(text)).toThrow(expect.objectContaining({ code: 'AUT_KEY_NOT_FOUND' }));
  });
});
