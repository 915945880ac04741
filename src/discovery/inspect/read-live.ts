import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { readContent } from '../crawl/read-content.ts';
import { readIndex } from '../crawl/read-index.ts';
import { findNodeRecord, hostingNode, readNode } from '../crawl/read-node.ts';
import type { Reader } from '../crawl/reader.ts';

/** The currently served content of a catalog, verified. Undefined if no index lists it. Throws a reading fault. */
export async function readLive(
  reader: Reader,
  { identity, catalogId, signal }: { identity: string; catalogId: string; signal: AbortSignal },
): Promise<CatalogContent | undefined> {
  const question = { identity, signal };
  const record = await findNodeRecord(reader, question);
  const { indexUrls = [], keyNames } = await readNode(reader, question, record);
  const node = { ...hostingNode(reader, identity, record.records), keyNames };
  let newest: TrustedEntry | undefined;
  for (const url of indexUrls) {
    const reading = await readIndex(reader, node, url, { signal });
    if (reading.kind === 'unchanged') continue;
    const [broken] = reading.faults.filter((one) => one.catalogId === catalogId);
    if (broken) throw broken.fault;
    const entry = reading.entries.find((one) => one.entry.catalogId === catalogId);
    if (entry && (newest?.entry.entryVersion ?? 0) < entry.entry.entryVersion) newest = entry;
  }
  if (!newest || newest.entry.retiredAt !== undefined) return undefined;
  const reading = await readContent(reader, node, newest, undefined, signal);
  const [first] = reading.faults;
  if (first) throw first;
  return reading.kind === 'full' ? reading.content : undefined;
}
