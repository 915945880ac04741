import { webcrypto } from 'node:crypto';
import { openDocument, type ServedFile } from '../../rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import {
  claimedKeysOfIndex,
  type JudgedEntries,
  type TrustedIndex,
  trustEntries,
  trustIndex,
} from '../../rules/self-hosted/trust-index.ts';
import { unpackIndex } from './packed-files.ts';
import { findKeys, inRoom, keyFinder, mayBeLarge, type Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

export interface IndexReading extends JudgedEntries {
  kind: 'read';
  index: TrustedIndex;
  etag?: string;
  modified?: string;
  /** Digest of the bytes as served. */
  digest: string;
}

/** An index that was read before and fully verified: the same index again is nothing new. */
type KnownIndex = Record<'etag' | 'modified' | 'digest', string | null>;

/** An index with its entries, each trusted or not (self-hosted spec: Discovery crawl order, 4). */
export async function readIndex(
  reader: Reader,
  node: HostingNode,
  url: string,
  { known, signal }: { known?: KnownIndex; signal: AbortSignal },
): Promise<IndexReading | { kind: 'unchanged' }> {
  const { fetcher, share, limits } = reader;
  const answer = await fetcher.fetch(url, {
    ...{ maxBytes: limits.maxIndexBytes, condition: known, share, signal },
  });
  if (answer.kind === 'unchanged') return answer;
  if (answer.kind === 'missing') {
    throw new CrawlFault('file-missing', `There is no index at ${url}: it answers ${answer.status}.`, {
      url,
    });
  }
  const { file, etag, modified } = answer;
  const digest = await digestOf(file);
  if (digest === known?.digest) return { kind: 'unchanged' };
  return { kind: 'read', ...(await judgeIndex(reader, node, file, signal)), etag, modified, digest };
}

/** Computed aside: an index may be large. */
async function digestOf({ wire }: ServedFile): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', wire)).toString('base64url');
}

export function judgeIndex(
  reader: Reader,
  node: HostingNode,
  file: ServedFile,
  signal: AbortSignal,
): Promise<JudgedEntries & { index: TrustedIndex }> {
  const { limits, aside, allowUnsignedIndex: allowUnsigned } = reader;
  return inRoom(reader, file, signal, async (maxInflatedBytes) => {
    if (aside && mayBeLarge(maxInflatedBytes)) {
      const task = { file, maxInflatedBytes, node, limits, allowUnsigned };
      return unpackIndex(await aside.verifyIndex(task, keyFinder(reader, node), signal));
    }
    const opened = openDocument('index', file, { maxInflatedBytes });
    const keys = await findKeys(reader, node, claimedKeysOfIndex(opened));
    const index = trustIndex(opened, { node, keys, limits, allowUnsigned });
    return { index, ...trustEntries(index, { node, keys, limits }) };
  });
}
