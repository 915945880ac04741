import { describe, expect, it } from 'vitest';
import { readVectors } from '../../tests/support/vectors.ts';
import { bodyDigest, findBodyDigest, sha256Digest, sha256Matches, spellingsOfBodyDigest } from './digest.ts';

const abc = Buffer.from('abc');
const ofAbc =
  'BLAKE-512=uoClP5gcTQ1qJ5e2nxL26UwhLxRoWsS3SxK7b9v/otF9h8U5Kqt5LcJS1d5FM8yVGNOKqNvxklq5I4bt1ACZIw==';

describe('bodyDigest', () => {
  it('gives the known answer of RFC 7693 for "abc"', () => {
    expect(bodyDigest(abc)).toBe(ofAbc);
  });

  it('gives the known answer of BLAKE2 for zero bytes, which GET and DELETE sign', () => {
    const hex = [
      '786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419',
      'd25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce',
    ].join('');
    expect(bodyDigest(new Uint8Array())).toBe(`BLAKE-512=${Buffer.from(hex, 'hex').toString('base64')}`);
  });

  const vectors = readVectors<{ message: string; digest: string }[]>('blake2b/blake2b-512-unkeyed-kat.json');
  it.skipIf(vectors === undefined)(
    'gives every known answer of BLAKE2b-512 (needs the blake2b vectors)',
    () => {
      for (const { message, digest } of vectors ?? []) {
        const expected = Buffer.from(digest, 'hex').toString('base64');
        expect(bodyDigest(Buffer.from(message, 'hex'))).toBe(`BLAKE-512=${expected}`);
      }
    },
  );
});

describe('findBodyDigest', () => {
  it('reads both labels into one spelling', () => {
    for (const spelling of spellingsOfBodyDigest(ofAbc)) expect(findBodyDigest(spelling)).toBe(ofAbc);
    expect(spellingsOfBodyDigest(ofAbc)[1]).toMatch(/^BLAKE2b-512=uoClP5/);
  });

  it.each([
    ['another label', ofAbc.replace('BLAKE-512', 'SHA-512')],
    ['no padding', ofAbc.replace('==', '')],
    ['stray bits', ofAbc.replace('Iw==', 'Ix==')],
    ['another length', 'BLAKE-512=AAAA'],
    ['nothing', ''],
  ])('finds none in %s', (_, text) => {
    expect(findBodyDigest(text)).toBeUndefined();
  });
});

describe('sha256Digest', () => {
  const hex = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

  it('is written with the prefix sha256: and lower-case digits', () => {
    expect(sha256Digest(abc)).toBe(`sha256:${hex}`);
  });

  it.each([`sha256:${hex}`, `sha-256:${hex}`, `SHA-256:${hex.toUpperCase()}`, `sha256:${hex.toUpperCase()}`])(
    'is recognised as %s',
    (declared) => {
      expect(sha256Matches(declared, abc)).toBe(true);
      expect(sha256Matches(declared, Buffer.from('abd'))).toBe(false);
    },
  );

  it.each([hex, `sha512:${hex}`, `sha256:${hex} `, `sha256:sha-256:${hex}`, `sha256:${hex.slice(1)}`, ''])(
    'is not recognised as "%s"',
    (declared) => {
      expect(sha256Matches(declared, abc)).toBe(false);
    },
  );
});
