import { counted } from '../../counted.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { readIndex } from '../crawl/read-index.ts';
import { examineCatalog } from './examine-catalog.ts';
import { type Examination, type ExaminedNode, examineNode } from './examine-node.ts';
import { type About, complaint, type Finding, fault, holds, staleness, warning } from './findings.ts';
import { inOrder } from './in-order.ts';
import { createMasterSearch } from './masters.ts';

/** Whom to look at: a node by its identity, or by the address that somebody gave for it; all of its catalogs, or one. */
export interface Patient {
  identity: string;
  address?: string;
  catalogId?: string;
  /** No more catalogs are looked at; all unless given. */
  maxCatalogs?: number;
}

const catalogsAtOnce = 4;

/** Walks the chain as a crawler does that has never seen the node (self-hosted spec: Discovery crawl order). */
export async function* examine(exam: Examination, patient: Patient): AsyncGenerator<Finding> {
  const { identity, address, catalogId, maxCatalogs } = patient;
  const node = yield* examineNode(exam, identity, address);
  if (node === undefined) return;
  const entries: TrustedEntry[] = [];
  let listed = 0;
  for (const url of node.indexUrls) {
    const read = yield* examineIndex(exam, node, url, catalogId);
    entries.push(...read.entries);
    listed += read.listed;
  }
  const masters = createMasterSearch(exam, node, entries);
  const asked = entries.filter(({ entry }) => catalogId === undefined || entry.catalogId === catalogId);
  const wanted = (yield* chooseEntries(asked)).slice(0, maxCatalogs);
  for await (const findings of inOrder(wanted, catalogsAtOnce, (entry) =>
    examineCatalog(exam, node, entry, masters),
  )) {
    yield* findings;
  }
  if (listed > 0) return;
  yield catalogId === undefined
    ? complaint('fault', { document: 'index' }, 'nothing-published', `${identity} has published no catalog.`)
    : complaint(
        'fault',
        { document: 'catalog', catalogId },
        'not-listed',
        `No index of ${identity} lists ${catalogId}.`,
      );
}

/** Of several in different indexes, the one with the highest entryVersion counts; but retired is for ever, wherever it is seen. */
function* chooseEntries(entries: readonly TrustedEntry[]): Generator<Finding, TrustedEntry[]> {
  const chosen = new Map<string, TrustedEntry>();
  for (const trusted of entries) {
    const { catalogId, entryVersion, retiredAt } = trusted.entry;
    const other = chosen.get(catalogId);
    if (other) {
      yield warning(
        { document: 'entry', catalogId },
        'in-two-indexes',
        `${catalogId} is in several indexes.`,
      );
    }
    const isNewer = !other || other.entry.entryVersion < entryVersion;
    if (retiredAt !== undefined || (isNewer && other?.entry.retiredAt === undefined))
      chosen.set(catalogId, trusted);
  }
  return [...chosen.values()];
}

interface ExaminedIndex {
  entries: TrustedEntry[];
  /** How many of those that are asked for it lists, good or bad. */
  listed: number;
}

async function* examineIndex(
  { reader, now, signal }: Examination,
  { node }: ExaminedNode,
  url: string,
  catalogId: string | undefined,
): AsyncGenerator<Finding, ExaminedIndex> {
  const about: About = { document: 'index', url };
  const isAsked = (id: string | undefined) => catalogId === undefined || id === catalogId;
  try {
    const reading = await readIndex(reader, node, url, { signal });
    if (reading.kind === 'unchanged') return { entries: [], listed: 0 };
    const { index, entries, faults } = reading;
    const signed = index.signedBy === undefined ? 'not signed' : `signed with ${index.signedBy}`;
    const count = counted(index.entries.length, 'catalog');
    const key = index.signedBy === undefined ? {} : { key: index.signedBy };
    yield holds(
      { ...about, ...key },
      `${signed}, ${count}, next update ${index.nextUpdate ?? 'not announced'}`,
    );
    yield* staleness(about, index.nextUpdate, now);
    const asked = faults.filter((one) => isAsked(one.catalogId));
    for (const { catalogId: id, fault: reason } of asked) {
      yield fault({ document: 'entry', url, ...(id !== undefined && { catalogId: id }) }, reason);
    }
    return { entries, listed: asked.length + entries.filter(({ entry }) => isAsked(entry.catalogId)).length };
  } catch (error) {
    yield fault(about, error);
    // What it lists, nobody knows.
    return { entries: [], listed: 1 };
  }
}
