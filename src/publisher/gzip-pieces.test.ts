import { gunzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gzipPieces, packAhead } from './seal.ts';

const piece = fc
  .tuple(fc.uint8Array({ maxLength: 60 }), fc.nat({ max: 1000 }))
  .map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => bytes)));

describe('gzipped pieces', () => {
  it('are one stream that unpacks to all of them, whatever their number and size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
        const packed = await gzipPieces(pieces);
        expect(unpackOne(packed)).toEqual(Buffer.concat(pieces));
      }),
      { numRuns: 15 },
    );
  });

  it('are the same file when some of them were packed before, alone or among others', async () => {
    const [one = Buffer.alloc(0), two = Buffer.alloc(0), three = Buffer.alloc(0)] = ['a', 'b', 'c'].map(
      (text) => Buffer.from(text.repeat(100_000)),
    );
    const fresh = await gzipPieces([one, two, three].map((bytes) => Buffer.from(bytes)));
    packAhead(two);
    await gzipPieces([three, one]);
    expect(await gzipPieces([one, two, three])).toEqual(fresh);
  });
});

/** Some readers read only the first stream of a gzip file, so it must contain everything. */
function unpackOne(bytes: Buffer): Buffer {
  const unpacked = inflateRawSync(bytes.subarray(headerBytes, -trailerBytes));
  expect(unpacked).toEqual(gunzipSync(bytes));
  return unpacked;
}

const headerBytes = 10;
const trailerBytes = 8;
