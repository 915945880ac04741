import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { SigningKey } from '../protocol/keys.ts';
import { signDocument, type WireProfile } from '../protocol/signed-document.ts';
import { contentPath, type FileKind, urlOf } from './paths.ts';

// From a document to the signed file that is served, and to what the index says of it.

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
  bytes: Buffer;
}

export interface FileReference {
  url: string;
  /** Bytes served. */
  size: number;
  digest: string;
}

export function sealFile(
  kind: FileKind,
  document: { catalogId: string },
  version: number,
  { key, profile, baseUrl }: Seal,
): { file: SealedFile; reference: FileReference } {
  const content = Buffer.from(JSON.stringify(signDocument(document, key, profile)));
  const sha256 = hash('sha256', content, 'hex');
  const isGzipped = content.length > maxPlainBytes;
  const bytes = isGzipped ? gzipSync(content) : content;
  const path = contentPath(kind, { catalogId: document.catalogId, version, sha256, isGzipped });
  const digest = `${profile === 'nfh014' ? 'sha-256' : 'sha256'}:${sha256}`;
  return { file: { path, bytes }, reference: { url: urlOf(baseUrl, path), size: bytes.length, digest } };
}
