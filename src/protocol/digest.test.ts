import { describe, expect, it } from 'vitest';
import { readVectors } from '../../tests/support/values/vectors.ts';
import made from '../../vectors/digests.json' with { type: 'json' };
import { bodyDigest, findBodyDigest, sha256Digest, sha256Matches } from './digest.ts';

const ofBodies = ({ of }: { of: string }) => of === 'body';
const ofFiles = ({ of }: { of: string }) => of === 'file';

describe('bodyDigest', () => {
  it.each(made.cases)('is that of our vectors: $name', ({ text, body }) => {
    expect(bodyDigest(Buffer.from(text))).toBe(body);
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
  it.each(made.accept.filter(ofBodies))('reads $name into the one spelling', ({ text, digest }) => {
    expect(findBodyDigest(digest)).toBe(bodyDigest(Buffer.from(text)));
  });

  it.each(made.refuse.filter(ofBodies))('finds none in $name', ({ digest }) => {
    expect(findBodyDigest(digest)).toBeUndefined();
  });
});

describe('sha256Digest', () => {
  it.each(made.cases)('is that of our vectors: $name', ({ text, file }) => {
    expect(sha256Digest(Buffer.from(text))).toBe(file);
    expect(sha256Matches(file, Buffer.from(text))).toBe(true);
  });

  it.each(made.accept.filter(ofFiles))('is recognised in $name', ({ text, digest }) => {
    expect(sha256Matches(digest, Buffer.from(text))).toBe(true);
    expect(sha256Matches(digest, Buffer.from(`${text}.`))).toBe(false);
  });

  it.each(made.refuse.filter(ofFiles))('is not recognised in $name', ({ text, digest }) => {
    expect(sha256Matches(digest, Buffer.from(text))).toBe(false);
  });
});
