import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import type { CanonicalForm } from '../protocol/canonical-json.ts';
import { labelSha256 } from '../protocol/digest.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { formOf, signContent, type WireProfile } from '../protocol/signed-document.ts';
import { contentPath, type FileKind, urlOf } from './paths.ts';

// Turns a document into the signed file to serve, and its reference in the index. A file may have hundreds of megabytes. It is serialized
// once, in canonical form; its pieces are both signed and served. Other threads compress and sign: while one piece is made, earlier ones are
// compressed.

/** Larger files are served gzipped. The digest covers the bytes as stored; crawlers of the profile nfh014 check the decompressed ones. */
const maxPlainBytes = 1_048_576;

/** The signing key, the form and the address. */
export interface Seal {
  key: SigningKey;
  profile: WireProfile;
  /** Base address of the served files (`catalogBaseURL`). */
  baseUrl: string;
}

export interface SealOptions extends Seal {
  /** Other work to do while a thread signs. */
  whileSigning?(): void;
}

export interface SealedFile {
  path: string;
  bytes: Uint8Array;
  unpackedBytes: number;
}

export interface FileReference {
  url: string;
  size: number;
  digest: string;
}

/** Members keep the order of the document, so that short ones can precede long ones; the signature is last. */
export async function sealFile(
  kind: FileKind,
  document: { catalogId: string },
  version: number,
  { key, profile, baseUrl, whileSigning }: SealOptions,
): Promise<{ file: SealedFile; reference: FileReference }> {
  const form = formOf(profile);
  const members = await writeMembers(document, form);
  const signing = signContent(signedPieces(members, form), key, profile);
  const pieces = members.flatMap((member) => member.pieces);
  whileSigning?.();
  pieces.push(Buffer.from(`,"signature":${JSON.stringify(await signing)}}`));
  const unpackedBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const isGzipped = unpackedBytes > maxPlainBytes;
  const bytes = isGzipped ? await gzipPieces(pieces) : Buffer.concat(pieces);
  const sha256 = sha256Of(profile === 'nfh014' ? pieces : [bytes]);
  const path = contentPath(kind, { catalogId: document.catalogId, version, sha256, isGzipped });
  return {
    file: { path, bytes, unpackedBytes },
    reference: { url: urlOf(baseUrl, path), size: bytes.length, digest: labelSha256(sha256, profile) },
  };
}

function sha256Of(pieces: readonly Buffer[]): string {
  const hashing = createHash('sha256');
  for (const piece of pieces) hashing.update(piece);
  return hashing.digest('hex');
}

/** The pieces of a member start with its name and the text before it in the file. */
async function writeMembers(document: { catalogId: string }, form: CanonicalForm): Promise<WrittenMember[]> {
  const members: WrittenMember[] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries<Json>(document)) {
    const pieces: Buffer[] = [Buffer.from(`${members.length === 0 ? '{' : ','}${JSON.stringify(name)}:`)];
    for (const piece of canonicalPieces(value, form)) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes <= maxPlainBytes) continue;
      packAhead(piece);
      // Lets the compressors process their results.
      await nextTurn();
    }
    members.push({ name, pieces });
  }
  return members;
}

interface WrittenMember {
  name: string;
  pieces: Buffer[];
}

/** The canonical form of the document: its members in canonical order. */
function signedPieces(members: readonly WrittenMember[], form: CanonicalForm): Buffer[] {
  const byName = new Map(members.map(({ name, pieces: [, ...value] }) => [name, value]));
  const pieces = form
    .sortNames([...byName.keys()])
    .flatMap((name, index) => [
      Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
      ...(byName.get(name) ?? []),
    ]);
  return [...pieces, Buffer.from('}')];
}

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

/** The canonical form of a large value in pieces, for hashing and compressing in parallel. Splits a list, or an object's lists. */
export function* canonicalPieces(value: Json, form: CanonicalForm): Generator<Buffer> {
  if (Array.isArray(value)) return yield* piecesOfList(value, form);
  if (!isJsonObject(value)) return yield Buffer.from(form.write(value));
  const names = form.sortNames(Object.keys(value).filter((name) => value[name] !== undefined));
  for (const [index, name] of names.entries()) {
    yield Buffer.from(`${index === 0 ? '{' : ','}${form.write(name)}:`);
    const member = value[name] as Json;
    if (Array.isArray(member)) yield* piecesOfList(member, form);
    else yield Buffer.from(form.write(member));
  }
  yield Buffer.from(names.length === 0 ? '{}' : '}');
}

const itemsPerPiece = 500;

function* piecesOfList(list: readonly Json[], form: CanonicalForm): Generator<Buffer> {
  for (let start = 0; start < list.length; start += itemsPerPiece) {
    const piece = Buffer.from(form.write(list.slice(start, start + itemsPerPiece)));
    // The opening bracket is replaced by the text before or between items.
    piece.write(start === 0 ? '[' : ',');
    yield piece.subarray(0, -1);
  }
  yield Buffer.from(list.length === 0 ? '[]' : ']');
}
