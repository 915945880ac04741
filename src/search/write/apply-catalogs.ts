import type { Transaction } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import type { WrittenGeneration } from '../generations/in-use.ts';
import { applyDocuments } from './apply-documents.ts';
import { holdCatalogs, nameOf, writeCatalogs } from './catalog-rows.ts';
import { moveOffers } from './document-rows.ts';
import { type IncomingCatalog, targetOf, type UnindexedGeometry } from './target.ts';

// How catalogs come into the index, in one transaction of the caller:
//
//   hold       the catalogs' rows are locked; new catalogs get keys
//   compare    digests tell which documents are new, changed or to go; the others are not touched (plan-steps.ts)
//   write      documents, and of the index only what differs between the old document and the new one (apply-documents.ts, index-changes.ts)
//   update     the catalogs' rows, or insert them: members, networks, schema types, validity
//   remove     what leaves lists goes last, at the end of the unit of work (write-index.ts)

export interface AppliedCatalog extends CatalogRef {
  key: number;
  /** Whether it was held before. */
  known: boolean;
  /** Resources and offers that were new or changed, and those that went. */
  written: number;
  removed: number;
  unindexed: readonly UnindexedGeometry[];
}

/** Applies catalogs, no (source, owner, id) twice in a call. Afterwards they are served. */
export async function applyCatalogs(
  tx: Transaction,
  incoming: readonly IncomingCatalog[],
  generations: readonly WrittenGeneration[],
  now: Date,
): Promise<AppliedCatalog[]> {
  const refs = incoming.map(({ source, owner, catalog: { id } }) => ({ source, owner, id }));
  const held = new Map((await holdCatalogs(tx, refs, generations)).map((row) => [nameOf(row), row]));
  const targets = incoming.flatMap((one) => {
    const before = held.get(nameOf({ ...one, id: one.catalog.id }));
    return before ? [targetOf(one, before, generations)] : [];
  });
  await applyDocuments(tx, targets, generations);
  for (const { row, before } of targets)
    if (before.known && before.provider_id !== row.provider_id)
      await moveOffers(tx, row.key, row.provider_id);
  const rows = targets.map(({ row }) => row);
  await writeCatalogs(tx, rows, now);
  return targets.map(({ before: { source, owner, id, key, known }, written, removed, unindexed }) => ({
    ...{ source, owner, id, key, known },
    ...{ written, removed, unindexed },
  }));
}
