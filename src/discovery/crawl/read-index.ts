import { webcrypto } from 'node:crypto';
import { identityOf } from '../../protocol/identity.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { openDocument, type ServedFile } from '../../rules/self-hosted/open-document.ts';
import type { HostingNode } from '../../rules/self-hosted/signer.ts';
import {
  claimedKeysOfIndex,
  type JudgedEntries,
  type TrustedIndex,
  trustEntries,
  trustIndex,
} from '../../rules/self-hosted/trust-index.ts';
import { hostOf } from './fetch.ts';
import { findNodeRecord, hostingNode, readNode } from './read-node.ts';
import { fetchServed, findKeys, inRoom, keyFinder, mayBeLarge, type Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

export interface IndexReading extends JudgedEntries {
  kind: 'read';
  index: TrustedIndex;
  etag?: string;
  modified?: string;
  digest: string;
}

/** An index that was read before and fully verified: an identical one is unchanged. */
type KnownIndex = Record<'etag' | 'modified' | 'digest', string | null>;

/** An index with its entries, each trusted or not (self-hosted spec: Discovery crawl order, 4). */
export async function readIndex(
  reader: Reader,
  node: HostingNode,
  url: string,
  { known, signal }: { known?: KnownIndex; signal: AbortSignal },
): Promise<IndexReading | { kind: 'unchanged' }> {
  const { fetcher, share, limits } = reader;
  const asking = { maxBytes: limits.maxIndexBytes, condition: known, share, signal };
  const answer = await fetcher.fetch(url, asking);
  if (answer.kind === 'unchanged') return answer;
  if (answer.kind === 'missing') {
    const problem = `There is no index at ${url}: it answers ${answer.status}.`;
    throw new CrawlFault('file-missing', problem, { url });
  }
  const { file, etag, modified } = answer;
  // In a thread: an index may be large.
  const digested = await webcrypto.subtle.digest('SHA-256', file.wire);
  const digest = Buffer.from(digested).toString('base64url');
  if (digest === known?.digest) return { kind: 'unchanged' };
  return { kind: 'read', ...(await judgeIndex(reader, node, file, signal)), etag, modified, digest };
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
      return aside.verifyIndex(task, keyFinder(reader, node), signal);
    }
    const opened = openDocument('index', file, { maxInflatedBytes });
    const keys = await findKeys(reader, node, claimedKeysOfIndex(opened));
    const index = trustIndex(opened, { node, keys, limits, allowUnsigned });
    return { index, ...trustEntries(index, { node, keys, limits }) };
  });
}

export interface HintedIndex {
  node: string;
  networkMemberships: readonly string[];
  host: string;
  masters: IndexEntry[];
}

/** "`indexUrl` is a hint, not a trust delegation" (self-hosted spec: Entry): the chain from its node's registry record must lead to this address. */
export async function readHint(reader: Reader, url: string, signal: AbortSignal): Promise<HintedIndex> {
  const { limits, registryName } = reader;
  const file = await fetchServed(reader, 'index', url, { maxBytes: limits.maxIndexBytes, signal });
  const nodeId = await readNodeId(reader, file, signal);
  if (typeof nodeId !== 'string')
    throw new TrustFault('index', 'malformed', `The index at ${url} does not name its node.`);
  const identity = identityOf(nodeId, registryName);
  const question = { identity, signal };
  const found = await findNodeRecord(reader, question);
  const { indexUrls = [], networkMemberships, keyNames } = await readNode(reader, question, found);
  if (!indexUrls.includes(url))
    throw new CrawlFault('index-unlisted', `The record of ${identity} does not list ${url}.`, { url });
  const node = { ...hostingNode(reader, identity, found.records), keyNames };
  const { entries } = await judgeIndex(reader, node, file, signal);
  const masters = entries
    .map(({ entry }) => entry)
    .filter(({ catalogType, retiredAt }) => catalogType === 'MASTER' && retiredAt === undefined);
  return { node: identity, networkMemberships, host: hostOf(found.places[0]), masters };
}

function readNodeId(reader: Reader, file: ServedFile, signal: AbortSignal): Promise<unknown> {
  return inRoom(reader, file, signal, async (maxInflatedBytes) => {
    if (reader.aside && mayBeLarge(maxInflatedBytes))
      return reader.aside.readNodeId({ file, maxInflatedBytes }, signal);
    return openDocument('index', file, { maxInflatedBytes }).document.nodeId;
  });
}
