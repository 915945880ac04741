import { counted } from '../../counted.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { type About, type Finding, fault, holds, staleness, warning } from './findings.ts';
import { type CatalogCheck, verifyCatalog } from './verify-catalog.ts';
import { type NodeCheck, verifyNode } from './verify-node.ts';

interface TreeCheck extends NodeCheck, Pick<CatalogCheck, 'onCatalog'> {
  isAsked?(catalogId: string | undefined): boolean;
  onIndex?(catalogs: number): void;
}

/**
 * A whole published tree, link by link in the order of readers (self-hosted spec: Discovery crawl order): manifest,
 * Subscriber record, indexes, entries, files. The first fault is the first broken link. Links behind a broken one are not reached, except that
 * in a directory the indexes are found without the record.
 */
export async function* verifyTree(check: TreeCheck): AsyncGenerator<Finding> {
  const { source, isAsked = () => true } = check;
  const verified = source.isIndexOnly ? undefined : yield* verifyNode(check);
  const { node, indexUrls } = verified ?? { node: check.node, indexUrls: source.indexUrls };
  yield* noteUnlisted(source.indexUrls, indexUrls);
  const indexOf = new Map<string, string>();
  const catalogCheck = { ...check, node, isExact: source.host === undefined };
  for (const url of indexUrls) {
    const read = yield* verifyIndex({ ...check, node }, url, isAsked);
    const entries = read?.entries.filter(({ entry }) => isAsked(entry.catalogId)) ?? [];
    check.onIndex?.(entries.length);
    const verified = inOrder(entries, catalogsAtOnce, (entry) => verifyCatalog(catalogCheck, entry));
    for await (const findings of verified)
      for (const finding of findings) {
        yield* noteDouble(finding, url, indexOf);
        yield finding;
      }
  }
}

/** The valid entries of an index, and the number of requested invalid ones; undefined if the index itself is invalid. */
export async function* verifyIndex(
  { reader, node, now }: Pick<NodeCheck, 'reader' | 'node' | 'now'>,
  url: string,
  isAsked: (catalogId: string | undefined) => boolean = () => true,
): AsyncGenerator<Finding, { entries: TrustedEntry[]; broken: number } | undefined> {
  const about: About = { document: 'index', url };
  try {
    const { index, entries, faults } = await reader.readIndex(node, url);
    const { signedBy: key, nextUpdate } = index;
    const signed = key === undefined ? 'not signed' : `signed with ${key}`;
    const count = counted(index.entries.length, 'catalog');
    const detail = `${signed}, ${count}, next update ${nextUpdate ?? 'not announced'}`;
    yield holds({ ...about, ...(key !== undefined && { key }) }, detail);
    yield* staleness(about, nextUpdate, now);
    const broken = faults.filter(({ catalogId }) => isAsked(catalogId));
    for (const { catalogId, fault: reason } of broken)
      yield fault({ document: 'entry', catalogId, url }, reason);
    return { entries, broken: broken.length };
  } catch (error) {
    yield fault(about, error);
    return undefined;
  }
}

/** Processes several items concurrently, with the results in the order of the items. */
export async function* inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    const started = work(item);
    // It is awaited later, so an earlier failure must not count as unhandled.
    started.catch(() => undefined);
    running.push(started);
    const [first] = running;
    if (running.length < atOnce || !first) continue;
    yield await first;
    running.shift();
  }
  for (const rest of running) yield await rest;
}

const catalogsAtOnce = 8;

/** Readers use the entry with the higher version, and log the other. */
function* noteDouble(finding: Finding, url: string, indexOf: Map<string, string>): Generator<Finding> {
  const { document, catalogId, kind } = finding;
  if (document !== 'entry' || catalogId === undefined || kind !== 'holds') return;
  const other = indexOf.get(catalogId);
  if (other !== undefined) {
    const message = `${catalogId} is also in the index ${other}.`;
    yield warning({ document, catalogId, url }, 'in-two-indexes', message);
  }
  indexOf.set(catalogId, url);
}

/** A directory may contain an index that no record lists. */
function* noteUnlisted(found: readonly string[], listed: readonly string[]): Generator<Finding> {
  const ends = new Set(listed.map(endOf));
  for (const url of found.filter((one) => !ends.has(endOf(one)))) {
    const message = `The Subscriber record does not list ${url}.`;
    yield warning({ document: 'index', url }, 'index-unlisted', message);
  }
}

/** A record may list an invalid address, which is reported when it is read. */
function endOf(url: string): string {
  if (!URL.canParse(url)) return url;
  return new URL(url).pathname.split('/').slice(-2).join('/');
}
