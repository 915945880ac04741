import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CanonicalForm } from '../protocol/canonical-json.ts';
import { labelSha256 } from '../protocol/digest.ts';
import type { Json } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { formOf, signContent, type WireProfile } from '../protocol/signed-document.ts';
import { canonicalPieces } from './canonical-pieces.ts';
import { gzipPieces, packAhead } from './gzip-pieces.ts';
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
