import { identityOf } from '../../protocol/identity.ts';
import type { IndexEntry } from '../../protocol/signed-files.ts';
import { TrustFault } from '../../rules/self-hosted/faults.ts';
import { openDocument, type ServedFile } from '../../rules/self-hosted/open-document.ts';
import { hostOf } from './fetch.ts';
import { judgeIndex } from './read-index.ts';
import { findNodeRecord, hostingNode, readNode } from './read-node.ts';
import { fetchServed, inRoom, mayBeLarge, type Reader } from './reader.ts';
import { CrawlFault } from './reasons.ts';

export interface HintedIndex {
  node: string;
  networkMemberships: readonly string[];
  /** Where its manifest is. */
  host: string;
  /** The MASTER entries in it that are not retired. */
  masters: IndexEntry[];
}

/**
 * "`indexUrl` is a hint, not a trust delegation" (self-hosted spec: Entry): the index says whose it is, and then the whole chain is walked from
 * the registry's record of that node, which must lead to this very address.
 */
export async function readHint(reader: Reader, url: string, signal: AbortSignal): Promise<HintedIndex> {
  const { limits, registryName } = reader;
  const file = await fetchServed(reader, 'index', url, { maxBytes: limits.maxIndexBytes, signal });
  const nodeId = await readNodeId(reader, file, signal);
  if (typeof nodeId !== 'string') {
    throw new TrustFault('index', 'malformed', `The index at ${url} does not say whose it is.`);
  }
  const question = { identity: identityOf(nodeId, registryName), signal };
  const found = await findNodeRecord(reader, question);
  const { indexUrls = [], networkMemberships, keyNames } = await readNode(reader, question, found);
  if (!indexUrls.includes(url)) {
    throw new CrawlFault('index-unlisted', `The record of ${question.identity} does not list ${url}.`, {
      url,
    });
  }
  const node = { ...hostingNode(reader, question.identity, found.records), keyNames };
  const { entries } = await judgeIndex(reader, node, file, signal);
  const masters = entries
    .map(({ entry }) => entry)
    .filter(({ catalogType, retiredAt }) => catalogType === 'MASTER' && retiredAt === undefined);
  return { node: question.identity, networkMemberships, host: hostOf(found.places[0]), masters };
}

/** Whose it claims to be. */
function readNodeId(reader: Reader, file: ServedFile, signal: AbortSignal): Promise<unknown> {
  return inRoom(reader, file, signal, async (maxInflatedBytes) => {
    if (reader.aside && mayBeLarge(maxInflatedBytes))
      return reader.aside.readNodeId({ file, maxInflatedBytes }, signal);
    return openDocument('index', file, { maxInflatedBytes }).document.nodeId;
  });
}
