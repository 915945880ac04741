import { sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import made from '../../vectors/signed-files.json' with { type: 'json' };
import { jwsHolds, parseJws, signJws } from './detached-jws.ts';
import { generateSeed, parsePublicKey, privateKeyFromSeed, publicKeyOf } from './keys.ts';

const privateKey = privateKeyFromSeed(generateSeed());
const publicKey = parsePublicKey(publicKeyOf(privateKey));
const payload = Buffer.from('{"a":"€ . .."}');

/** A JWS with any header, signed according to RFC 7797. */
function jwsWith(header: string): string {
  const encoded = Buffer.from(header).toString('base64url');
  const signature = sign(null, Buffer.concat([Buffer.from(`${encoded}.`), payload]), privateKey);
  return `${encoded}..${signature.toString('base64url')}`;
}

/** Whether it has no verifiable form, or is invalid. */
function isRefused(text: string, bytes: Uint8Array = payload, key = publicKey): boolean {
  try {
    return !jwsHolds(parseJws(text), bytes, key);
  } catch (error) {
    expect(error).toMatchObject({ code: 'AUT_SIGNATURE_INVALID' });
    return true;
  }
}

describe('a detached JWS', () => {
  it('has exactly the header of RFC 7797 with the kid, or without one in a proof', () => {
    expect(signJws(payload, { privateKey, kid: 'key-1' })).toBe(
      jwsWith('{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"key-1"}'),
    );
    expect(signJws(payload, { privateKey })).toBe(jwsWith('{"alg":"EdDSA","b64":false,"crit":["b64"]}'));
    expect(signJws(payload, { privateKey })).toMatch(
      /^eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19\.\.[\w-]{86}$/,
    );
  });

  it('verifies for any payload and says whose it is', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), (bytes, kid) => {
        fc.pre(!kid.includes('\0'));
        const text = signJws(bytes, { privateKey, kid });
        expect(isRefused(text, bytes)).toBe(false);
        expect(parseJws(text).kid).toBe(kid);
        expect(isRefused(text, Buffer.concat([bytes, Buffer.from([0])]))).toBe(true);
      }),
    );
    expect(parseJws(signJws(payload, { privateKey })).kid).toBeUndefined();
  });

  it('is refused after each single changed character', () => {
    const text = signJws(payload, { privateKey, kid: 'key-1' });
    for (let at = 0; at < text.length; at++) {
      for (const character of ['A', 'B', '_', '.', '=', ' ']) {
        if (text[at] === character) continue;
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        expect(isRefused(changed), changed).toBe(true);
      }
    }
  });

  it('is refused under another key', () => {
    const other = parsePublicKey(publicKeyOf(privateKeyFromSeed(generateSeed())));
    expect(isRefused(signJws(payload, { privateKey }), payload, other)).toBe(true);
  });

  it.each(made.refuse.filter(({ name }) => /^a (JWS|protected header) with/.test(name)))(
    'is refused: $name',
    ({ document }) => {
      expect(() => parseJws(String(document.signature))).toThrow(
        expect.objectContaining({ code: 'AUT_SIGNATURE_INVALID' }),
      );
    },
  );
});
