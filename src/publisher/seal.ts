import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { labelSha256 } from '../protocol/digest.ts';
import type { Json } from '../protocol/json.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { signContent, type WireProfile } from '../protocol/signed-document.ts';
import { canonicalPieces } from './canonical-pieces.ts';
import { contentPath, type FileKind, urlOf } from './paths.ts';

// From a document to the signed file that is served, and to what the index says of it. A file may have hundreds of megabytes: it is
// written once, in canonical form, and its pieces are both what is signed and what is served. While one piece is made, the one before
// is compressed.

/** Larger files are served gzipped. The digest is over what comes out when they are unpacked. */
const maxPlainBytes = 1_048_576;

/** Who signs, in which form, for which address. */
export interface Seal {
  key: SigningKey;
  profile: WireProfile;
  baseUrl: string;
}

export interface SealedFile {
  /** Where it stands in the tree. */
  path: string;
  bytes: Uint8Array;
  unpackedBytes: number;
}

export interface FileReference {
  url: string;
  /** Bytes served. */
  size: number;
  digest: string;
}

/** The members come in the order of the document, so that what is short can stand before what is long; last the signature. */
export async function sealFile(
  kind: FileKind,
  document: { catalogId: string },
  version: number,
  { key, profile, baseUrl }: Seal,
): Promise<{ file: SealedFile; reference: FileReference }> {
  const packing = startPacking();
  const members: { name: string; pieces: Buffer[] }[] = [];
  for (const [name, value] of Object.entries<Json>(document)) {
    const pieces: Buffer[] = [];
    let lead = `${members.length === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    for (const piece of canonicalPieces(value)) {
      pieces.push(piece);
      await packing.add(Buffer.from(lead), piece);
      lead = '';
    }
    members.push({ name, pieces });
  }
  const signature = await signContent(signedBytesOf(members), key, profile);
  await packing.add(Buffer.from(`,"signature":${JSON.stringify(signature)}}`));
  const { bytes, unpackedBytes, sha256, isGzipped } = await packing.end();
  const path = contentPath(kind, { catalogId: document.catalogId, version, sha256, isGzipped });
  return {
    file: { path, bytes, unpackedBytes },
    reference: { url: urlOf(baseUrl, path), size: bytes.length, digest: labelSha256(sha256, profile) },
  };
}

/** The same bytes as `signedBytes` of the document: its members in canonical order. */
function signedBytesOf(members: readonly { name: string; pieces: Buffer[] }[]): Buffer {
  const ordered = [...members].sort((one, other) => (one.name < other.name ? -1 : 1));
  const parts = ordered.flatMap(({ name, pieces }, index) => [
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    ...pieces,
  ]);
  return Buffer.concat([...parts, Buffer.from('}')]);
}

/** Takes a file piece by piece; compresses it from the moment on when it is large. */
function startPacking() {
  const hashing = createHash('sha256');
  const plain: Buffer[] = [];
  const packed: Buffer[] = [];
  let plainBytes = 0;
  let gzip: Gzip | undefined;
  return {
    async add(...pieces: Buffer[]): Promise<void> {
      for (const piece of pieces) {
        hashing.update(piece);
        plainBytes += piece.length;
        if (gzip) gzip.write(piece);
        else plain.push(piece);
      }
      if (plainBytes <= maxPlainBytes) return;
      if (!gzip) {
        gzip = createGzip({ chunkSize: gzipChunkBytes });
        gzip.on('data', (chunk: Buffer) => packed.push(chunk));
        for (const piece of plain.splice(0)) gzip.write(piece);
      }
      // Lets the compressor, which works in a thread of its own, take the next piece.
      await nextTurn();
    },
    async end(): Promise<Packed> {
      if (gzip) await once(gzip.end(), 'end');
      const bytes = Buffer.concat(gzip ? packed : plain);
      return {
        bytes,
        unpackedBytes: plainBytes,
        sha256: hashing.digest('hex'),
        isGzipped: gzip !== undefined,
      };
    },
  };
}

const gzipChunkBytes = 262_144;

interface Packed {
  bytes: Buffer;
  unpackedBytes: number;
  sha256: string;
  isGzipped: boolean;
}
