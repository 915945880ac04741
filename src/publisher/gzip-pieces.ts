import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

// A gzip file (RFC 1952) out of pieces that are compressed each for itself: several at once, in threads of their own, and a piece that was
// compressed before not again. To its readers it is one stream: a piece ends on a whole byte and looks back at nothing before it.

export async function gzipPieces(pieces: readonly Buffer[]): Promise<Buffer> {
  const packed = gathered(pieces).map(pack);
  let checksum = 0;
  let length = 0;
  for (const piece of pieces) {
    checksum = crc32(piece, checksum);
    length += piece.length;
  }
  return Buffer.concat([header, ...(await Promise.all(packed)), lastBlock, trailerOf(checksum, length)]);
}

/** Begins with a piece whose neighbours are not known yet. */
export function packAhead(piece: Buffer): void {
  if (isLarge(piece)) void pack(piece);
}

function isLarge(piece: Buffer): boolean {
  return piece.length >= 16_384;
}

function gathered(pieces: readonly Buffer[]): Buffer[] {
  const result: Buffer[] = [];
  let small: Buffer[] = [];
  for (const piece of pieces) {
    if (isLarge(piece)) {
      result.push(Buffer.concat(small), piece);
      small = [];
    } else small.push(piece);
  }
  return [...result, Buffer.concat(small)].filter(({ length }) => length > 0);
}

const packedBefore = new WeakMap<Buffer, Promise<Buffer>>();

function pack(piece: Buffer): Promise<Buffer> {
  const before = packedBefore.get(piece);
  if (before) return before;
  const packing = deflate(piece, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: packedChunkBytes });
  packedBefore.set(piece, packing);
  return packing;
}

const deflate = promisify(deflateRaw) as (
  bytes: Buffer,
  options: { finishFlush: number; chunkSize: number },
) => Promise<Buffer>;

/** There is room in it for what a piece usually comes down to. */
const packedChunkBytes = 65_536;

/** No name, no time, of no particular system: the same content is the same file. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty block that says to be the last. */
const lastBlock = Buffer.from([3, 0]);

function trailerOf(checksum: number, length: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
