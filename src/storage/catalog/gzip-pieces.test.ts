import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGzipPieces } from './gzip-pieces.ts';

async function compress(texts: readonly string[], pieceBytes: number) {
  const gzip = createGzipPieces(pieceBytes);
  const pieces: Buffer[] = [];
  for (const text of texts) {
    await gzip.write(text);
    pieces.push(...gzip.take());
  }
  await gzip.finish();
  pieces.push(...gzip.take());
  return { pieces, sizeBytes: gzip.sizeBytes(), sha256: gzip.sha256() };
}

describe('gzip in pieces', () => {
  it('gives the text back, whatever it is and however it was cut', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 2_000 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 300 }), async (parts, pieceBytes) => {
        const { pieces, sizeBytes, sha256 } = await compress(parts, pieceBytes);
        const whole = Buffer.concat(pieces);
        expect(gunzipSync(whole).toString('utf8')).toBe(parts.join(''));
        expect(pieces.slice(0, -1).every(({ length }) => length === pieceBytes)).toBe(true);
        expect(sizeBytes).toBe(whole.length);
        expect(sha256).toBe(createHash('sha256').update(whole).digest('hex'));
      }),
      { numRuns: 50 },
    );
  });

  it('gives complete pieces out while it is being written', async () => {
    const gzip = createGzipPieces(1_000);
    let seen = 0;
    for (let round = 0; round < 200 && seen === 0; round += 1) {
      await gzip.write(createHash('sha512').update(String(round)).digest('base64').repeat(20));
      seen += gzip.take().length;
    }
    expect(seen).toBeGreaterThan(0);
  });
});
