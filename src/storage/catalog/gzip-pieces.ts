import { createHash } from 'node:crypto';
import { createGzip } from 'node:zlib';

/** Compresses a text as it comes, in libuv's threads, and cuts the result into pieces of equal size; the last one may be shorter. */
export function createGzipPieces(pieceBytes: number) {
  const hash = createHash('sha256');
  const ready: Buffer[] = [];
  let piece = Buffer.allocUnsafe(pieceBytes);
  let filled = 0;
  let total = 0;

  const gzip = createGzip()
    .on('data', keep)
    // Whoever writes or finishes gets the error.
    .on('error', () => undefined);

  function keep(chunk: Buffer): void {
    hash.update(chunk);
    total += chunk.length;
    for (let taken = 0; taken < chunk.length; ) {
      const copied = chunk.copy(piece, filled, taken);
      taken += copied;
      filled += copied;
      if (filled === pieceBytes) startPiece();
    }
  }

  function startPiece(): void {
    ready.push(piece.subarray(0, filled));
    piece = Buffer.allocUnsafe(pieceBytes);
    filled = 0;
  }

  return {
    /** Resolves when the text has been compressed. */
    write: (text: string) =>
      new Promise<void>((resolve, reject) => {
        gzip.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    async finish() {
      await new Promise((resolve, reject) => {
        gzip.once('end', resolve).once('error', reject).end();
      });
      if (filled > 0) startPiece();
    },
    /** The pieces that are complete, each given out once; after `finish`, the rest as well. */
    take: () => ready.splice(0),
    /** Of all pieces together. */
    sizeBytes: () => total,
    /** Over the same bytes, in hex. Once only, after `finish`. */
    sha256: () => hash.digest('hex'),
  };
}
