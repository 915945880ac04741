import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { labelSha256, sha256Digest } from '../protocol/digest.ts';
import { manifestPaths } from '../protocol/endpoints.ts';
import type { SigningKey } from '../protocol/keys.ts';
import { signDocument } from '../protocol/signed-document.ts';
import {
  buildManifest,
  buildSubscriberRecord,
  isRecordPath,
  type NodeDescription,
} from '../publisher/manifest.ts';
import { urlOf } from '../publisher/paths.ts';
import type { FileReference } from '../publisher/seal.ts';

// The signed files of the checking identity, in memory, served besides its callbacks. Each has a unique name, so that a proxy may strip a prefix.
// Requests for files show the crawler's progress.

export type HostedTree = ReturnType<typeof createHostedTree>;

export type NodeBend = 'record-digest' | 'record-signature' | 'manifest-signature';

export interface HostedTreeOptions
  extends Pick<NodeDescription, 'registryName' | 'url' | 'profile' | 'formerKeys'> {
  key: SigningKey;
  baseUrl: string;
}

/** Short, because crawlers return at the next_update. */
const nextUpdateMs = 30_000;
const renewAfterMs = nextUpdateMs / 2;
/** The names of manifest and Subscriber record for `readAt`. */
export const manifestName = 'dedi.index.json';
export const recordName = 'subscriber.json';

export function createHostedTree(options: HostedTreeOptions) {
  const { key, baseUrl, profile } = options;
  const files = new Map<string, Buffer>();
  const reads = new Map<string, number>();
  let state = { write: () => {}, writtenAt: 0 };

  const write = (next: () => void) => {
    state = { write: next, writtenAt: Date.now() };
    next();
  };
  const sign = <T extends object>(document: T, signer = key) => signDocument(document, signer, profile);
  const host = (name: string, document: object): FileReference => {
    const content = Buffer.from(JSON.stringify(document));
    const bytes = name.endsWith('.gz') ? gzipSync(content) : content;
    files.set(name, bytes);
    // Under the profile nfh014, the digest of a gzipped file covers its decompressed content.
    const digest = labelSha256(hash('sha256', profile === 'nfh014' ? content : bytes, 'hex'), profile);
    return { url: urlOf(baseUrl, name), size: bytes.length, digest };
  };

  return {
    ...{ host, sign },
    /** The answer to a GET request, without bytes if the reader has them; undefined if the file does not exist. */
    serve(path: string, knownEtag: string | undefined) {
      if (Date.now() - state.writtenAt > renewAfterMs) write(state.write);
      const name = nameOf(path);
      const bytes = files.get(name);
      if (bytes === undefined) return undefined;
      const readName = isRecordPath(name) ? recordName : name;
      if (!reads.has(readName)) reads.set(readName, Date.now());
      const etag = `"${sha256Digest(bytes)}"`;
      const isKnown = knownEtag === etag;
      return { bytes: isKnown ? Buffer.alloc(0) : bytes, etag, isKnown };
    },
    /** Starts a new state of the tree: `write` hosts its documents, now and before each next_update. */
    lay(next: () => void): void {
      write(next);
      reads.clear();
    },
    index(
      name: string,
      catalogs: readonly object[],
      { nodeId = key.subscriberId, isAltered = false } = {},
    ): string {
      const next_update = new Date(Date.now() + nextUpdateMs).toISOString();
      const index = sign({ nodeId, next_update, catalogs });
      return host(name, isAltered ? alter(index) : index).url;
    },
    announce(indexUrls: readonly string[], bend?: NodeBend): void {
      const now = new Date();
      const times = { now, nextUpdate: new Date(now.getTime() + nextUpdateMs) };
      const node: NodeDescription = { ...options, id: key.subscriberId, indexUrls };
      const record = buildSubscriberRecord(node, times);
      if (bend === 'record-signature') record.bytes = alterBytes(record.bytes);
      const manifest = buildManifest(node, record, times);
      files.set(record.path, bend === 'record-digest' ? alterBytes(record.bytes) : record.bytes);
      for (const path of manifestPaths)
        files.set(nameOf(path), bend === 'manifest-signature' ? alterBytes(manifest) : manifest);
    },
    readAt: (name: string) => reads.get(name),
  };
}

/** Changes a document but keeps its signature. */
export function alter<T extends object>(document: T): T {
  return { ...document, alteredAfterSigning: true };
}

function alterBytes(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(alter(JSON.parse(bytes.toString()))));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
