import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

// A gzip file (RFC 1952) from separately compressed pieces: several at once, in threads, and each unchanged piece only once. Readers see one
// stream: a piece ends on a whole byte and does not refer to earlier ones.

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

/** Starts with a piece before its neighbours are known. */
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

/** Room for the usual size of a compressed piece. */
const packedChunkBytes = 65_536;

/** No name, no time, no particular system: the same content gives the same file. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty block, marked as the last. */
const lastBlock = Buffer.from([3, 0]);

function trailerOf(checksum: number, length: number): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
