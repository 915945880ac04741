import type { OpenedDocument } from '../../rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import {
  claimedKeysOfIndex,
  type JudgedEntries,
  type TrustedIndex,
  trustEntries,
  trustIndex,
} from '../../rules/self-hosted/trust-index.ts';
import type { FetchOptions } from './fetch.ts';
import { fetchDocument, findKeys, type Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

export interface IndexReading extends JudgedEntries {
  kind: 'read';
  index: TrustedIndex;
  etag?: string;
  modified?: string;
}

/** An index with its entries, each trusted or not (self-hosted spec: Discovery crawl order, 4). */
export async function readIndex(
  reader: Reader,
  node: HostingNode,
  url: string,
  { condition, signal }: Pick<FetchOptions, 'condition' | 'signal'>,
): Promise<IndexReading | { kind: 'unchanged' }> {
  const { limits } = reader;
  const answer = await fetchDocument(reader, 'index', url, {
    maxBytes: limits.maxIndexBytes,
    condition,
    signal,
  });
  if (answer.kind === 'unchanged') return answer;
  if (answer.kind === 'missing') {
    throw new CrawlFault('file-missing', `There is no index at ${url}: it answers ${answer.status}.`, {
      url,
    });
  }
  const { opened, etag, modified } = answer;
  return { kind: 'read', ...(await judgeIndex(reader, node, opened)), etag, modified };
}

export async function judgeIndex(
  reader: Reader,
  node: HostingNode,
  opened: OpenedDocument,
): Promise<JudgedEntries & { index: TrustedIndex }> {
  const { limits, allowUnsignedIndex: allowUnsigned } = reader;
  const keys = await findKeys(reader, node, claimedKeysOfIndex(opened));
  const index = trustIndex(opened, { node, keys, limits, allowUnsigned });
  return { index, ...trustEntries(index, { node, keys, limits }) };
}
