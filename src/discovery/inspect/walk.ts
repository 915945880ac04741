import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { examineCatalog } from './examine-catalog.ts';
import { type Examination, examineNode } from './examine-node.ts';
import { complaint, type Finding, warning } from './findings.ts';
import { createMasterSearch } from './masters.ts';
import { readAsCrawler } from './read-as-crawler.ts';
import { inOrder, verifyIndex } from './verify-tree.ts';

/** The subject: a node by its identity or by a given address; all of its catalogs, or one. */
export interface Patient {
  identity: string;
  address?: string;
  catalogId?: string;
  maxCatalogs?: number;
}

const catalogsAtOnce = 4;

/** Walks the chain like a new crawler (self-hosted spec: Discovery crawl order). */
export async function* examine(exam: Examination, patient: Patient): AsyncGenerator<Finding> {
  const { identity, address, catalogId, maxCatalogs } = patient;
  const node = yield* examineNode(exam, identity, address);
  if (node === undefined) return;
  const reader = readAsCrawler(exam.reader, exam.signal);
  const entries: TrustedEntry[] = [];
  let listed = 0;
  const isAsked = (id: string | undefined) => catalogId === undefined || id === catalogId;
  for (const url of node.indexUrls) {
    const read = yield* verifyIndex({ reader, node: node.node, now: exam.now }, url, isAsked);
    entries.push(...(read?.entries ?? []));
    // The number of entries in an invalid index is unknown.
    listed += read ? read.broken : 1;
  }
  const masters = createMasterSearch(exam, node, entries);
  const asked = entries.filter(({ entry }) => isAsked(entry.catalogId));
  listed += asked.length;
  const wanted = (yield* chooseEntries(asked)).slice(0, maxCatalogs);
  const examined = inOrder(wanted, catalogsAtOnce, (entry) => examineCatalog(exam, node, entry, masters));
  for await (const findings of examined) yield* findings;
  if (listed > 0) return;
  const about = { document: catalogId === undefined ? 'index' : 'catalog', catalogId } as const;
  yield catalogId === undefined
    ? complaint('fault', about, 'nothing-published', `${identity} has published no catalog.`)
    : complaint('fault', about, 'not-listed', `No index of ${identity} lists ${catalogId}.`);
}

/** If several indexes have entries of a catalog, the highest entryVersion counts; but retirement is permanent, wherever it is seen. */
function* chooseEntries(entries: readonly TrustedEntry[]): Generator<Finding, TrustedEntry[]> {
  const chosen = new Map<string, TrustedEntry>();
  for (const trusted of entries) {
    const { catalogId, entryVersion, retiredAt } = trusted.entry;
    const other = chosen.get(catalogId);
    const about = { document: 'entry', catalogId } as const;
    if (other) yield warning(about, 'in-two-indexes', `${catalogId} is in several indexes.`);
    const isNewer = !other || other.entry.entryVersion < entryVersion;
    if (retiredAt !== undefined || (isNewer && other?.entry.retiredAt === undefined))
      chosen.set(catalogId, trusted);
  }
  return [...chosen.values()];
}
