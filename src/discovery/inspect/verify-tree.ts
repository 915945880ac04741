import { counted } from '../../counted.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { readIndex } from '../crawl/read-index.ts';
import { type About, type Finding, fault, holds, staleness, warning } from './findings.ts';
import { inOrder } from './in-order.ts';
import { verifyCatalog } from './verify-catalog.ts';
import { type NodeCheck, verifyNode } from './verify-node.ts';

/**
 * A whole published tree, link by link in the order in which readers follow the chain (self-hosted spec: Discovery crawl order): manifest,
 * Subscriber record, indexes, entries, files. The first fault is the first broken link. What hangs on a broken link is not reached; but in a
 * directory the indexes are found without the record.
 */
export async function* verifyTree(
  check: NodeCheck,
  onIndex: (catalogs: number) => void,
): AsyncGenerator<Finding> {
  const { source } = check;
  const verified = source.isIndexOnly ? undefined : yield* verifyNode(check);
  const { node, indexUrls } = verified ?? { node: check.node, indexUrls: source.indexUrls };
  yield* noteUnlisted(source.indexUrls, indexUrls);
  const indexOf = new Map<string, string>();
  for (const url of indexUrls) {
    for await (const finding of verifyIndex({ ...check, node }, url, onIndex)) {
      yield* noteDouble(finding, url, indexOf);
      yield finding;
    }
  }
}

async function* verifyIndex(
  check: NodeCheck,
  url: string,
  onIndex: (catalogs: number) => void,
): AsyncGenerator<Finding> {
  const { source, reader, node, now, signal } = check;
  const about: About = { document: 'index', url };
  let entries: TrustedEntry[];
  try {
    const reading = await readIndex(reader, node, url, { signal });
    if (reading.kind === 'unchanged') return;
    const { index, faults } = reading;
    entries = reading.entries;
    onIndex(entries.length);
    const signed = index.signedBy === undefined ? 'not signed' : `signed with ${index.signedBy}`;
    const key = index.signedBy === undefined ? {} : { key: index.signedBy };
    yield holds(
      { ...about, ...key },
      `${signed}, ${counted(index.entries.length, 'catalog')}, next update ${index.nextUpdate ?? 'not announced'}`,
    );
    yield* staleness(about, index.nextUpdate, now);
    for (const { catalogId, fault: reason } of faults)
      yield fault({ document: 'entry', catalogId, url }, reason);
  } catch (error) {
    yield fault(about, error);
    return;
  }
  const catalogCheck = { reader, node, isExact: source.host === undefined, signal };
  for await (const findings of inOrder(entries, catalogsAtOnce, (entry) =>
    verifyCatalog(catalogCheck, entry),
  ))
    yield* findings;
}

const catalogsAtOnce = 8;

/** Readers take the entry with the higher version, and log the other. */
function* noteDouble(finding: Finding, url: string, indexOf: Map<string, string>): Generator<Finding> {
  const { document, catalogId, kind } = finding;
  if (document !== 'entry' || catalogId === undefined || kind !== 'holds') return;
  const other = indexOf.get(catalogId);
  if (other !== undefined) {
    const message = `${catalogId} stands in the index ${other} too.`;
    yield warning({ document, catalogId, url }, 'in-two-indexes', message);
  }
  indexOf.set(catalogId, url);
}

/** In a directory there may be an index that no record leads to. */
function* noteUnlisted(found: readonly string[], listed: readonly string[]): Generator<Finding> {
  const ends = new Set(listed.map(endOf));
  for (const url of found.filter((one) => !ends.has(endOf(one))))
    yield warning(
      { document: 'index', url },
      'index-unlisted',
      `The Subscriber record does not list ${url}.`,
    );
}

/** What a record lists may be no address at all, which is found when it is read. */
function endOf(url: string): string {
  if (!URL.canParse(url)) return url;
  return new URL(url).pathname.split('/').slice(-2).join('/');
}
