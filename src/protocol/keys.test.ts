import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../tests/support/values/vectors.ts';
import made from '../../vectors/keys.json' with { type: 'json' };
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';

interface Rfc8032Vector {
  name: string;
  seed: string;
  publicKey: string;
  message: string;
  signature: string;
}

const [embedded] = made.ed25519 as [Rfc8032Vector];

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

  it.each(made.keys)(
    'reads each form of the key of $name in our vectors',
    ({ publicKey, spki, pem, jwk }) => {
      for (const text of [publicKey, spki, pem, jwk.x])
        expect(parsePublicKey(text).export({ format: 'jwk' }).x).toBe(jwk.x);
    },
  );

  it.each(made.refuse)('takes $name for no key at all', ({ publicKey, code }) => {
    expect(() => parsePublicKey(publicKey)).toThrow(expect.objectContaining({ code }));
  });

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

describe('a public key of small order', () => {
  const namedAs = (start: string) =>
    made.refuse
      .filter(({ name }) => name.startsWith(start))
      .map(({ publicKey }) => Buffer.from(publicKey, 'base64').toString('hex'));
  const canonical = namedAs('a point of small order');
  const otherSpellings = namedAs('another spelling');
  const raw = (hex: string) => Buffer.from(hex, 'hex');
  const unchecked = (hex: string) =>
    createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: raw(hex).toString('base64url') },
      format: 'jwk',
    });

  it.each([...canonical, ...otherSpellings])('is refused, however it is spelled: %s', (hex) => {
    const der = unchecked(hex).export({ format: 'der', type: 'spki' });
    const pem = unchecked(hex).export({ format: 'pem', type: 'spki' }).toString();
    for (const text of [
      raw(hex).toString('base64'),
      raw(hex).toString('base64url'),
      der.toString('base64'),
      pem,
    ]) {
      expect(() => parsePublicKey(text)).toThrow(
        expect.objectContaining({
          code: 'AUT_KEY_NOT_FOUND',
          message: expect.stringContaining('point of small order'),
        }),
      );
    }
  });

  it.each(canonical)('would let node:crypto take a signature without any private key: %s', (hex) => {
    fc.assert(
      fc.property(fc.string(), (words) => {
        const key = unchecked(hex);
        // One of eight messages has a fitting digest; a forger varies the time or a blank.
        const attempts = Array.from({ length: 400 }, (_, blanks) =>
          Buffer.from(`${words}${' '.repeat(blanks)}`),
        );
        expect(attempts.some((message) => forgeSignature(message, key))).toBe(true);
        expect(() => parsePublicKey(raw(hex).toString('base64'))).toThrow('point of small order');
      }),
      { numRuns: 5 },
    );
  });

  /** S is zero, R a point of small order: neither needs a private key. */
  function forgeSignature(message: Buffer, key: KeyObject): Buffer | undefined {
    return canonical
      .map((point) => Buffer.concat([raw(point), Buffer.alloc(32)]))
      .find((signature) => verify(null, message, key, signature));
  }

  it('is not the only key refused: so is every y coordinate that is not below the prime', () => {
    for (let lowest = 0xed; lowest <= 0xff; lowest++) {
      for (const highest of [0x7f, 0xff]) {
        const key = Buffer.alloc(32, 0xff);
        key[0] = lowest;
        key[31] = highest;
        expect(() => parsePublicKey(key.toString('base64'))).toThrow(
          expect.objectContaining({ code: 'AUT_KEY_NOT_FOUND' }),
        );
      }
    }
  });

  it('is never one that was made from a seed', () => {
    const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(seed, (bytes) => {
        const publicKey = publicKeyOf(privateKeyFromSeed(Buffer.from(bytes).toString('base64')));
        expect(() => parsePublicKey(publicKey)).not.toThrow();
      }),
    );
  });
});
