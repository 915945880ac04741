import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import { type CatalogRef, dropCatalogs } from '../../storage/feeds/copies.ts';
import { type IndexFormats, indexFormats } from '../entries/index-format.ts';
import { readWritten, type WrittenGeneration } from '../generations/in-use.ts';
import { keyOf } from '../keys.ts';
import { applyDocuments } from './apply-documents.ts';
import {
  holdCatalogs,
  type IncomingCatalog,
  nameOf,
  targetOf,
  type UnindexedGeometry,
  writeCatalogs,
} from './catalog-rows.ts';
import { countDocuments, moveOffers } from './document-rows.ts';
import { createIndexChanges } from './index-changes.ts';

// How catalogs come into the index, for push, pull and crawl alike, in one transaction of the caller:
//
//   hold       the catalogs' rows are locked; new catalogs get keys
//   compare    digests tell which documents are new, changed or to go; the others are not touched (plan-steps.ts)
//   write      documents, and of the index only what differs between the old document and the new one (apply-documents.ts, index-changes.ts)
//   update     the catalogs' rows, or insert them: members, networks, schema types, validity
//   remove     what leaves lists goes last

export type IndexWriter = ReturnType<typeof createWriter>;

/** The unit of work of the index. Removals from lists are written as the last thing, because the runs that they rewrite stay locked until the end of the transaction. So let the work be all that the transaction does. */
export async function writeIndex<T>(
  tx: Transaction,
  now: Date,
  work: (writer: IndexWriter) => Promise<T>,
  formats: IndexFormats = indexFormats,
): Promise<T> {
  const generations = await readWritten(tx, formats);
  const result = await work(createWriter(tx, now, generations));
  for (const { removals } of generations) await removals.write(tx);
  return result;
}

function createWriter(tx: Transaction, now: Date, generations: readonly WrittenGeneration[]) {
  const hold = (refs: readonly CatalogRef[]) => holdCatalogs(tx, refs, generations);
  const apply = (catalogs: readonly IncomingCatalog[]) => applyCatalogs(tx, catalogs, generations, now);
  return {
    /** Locks catalogs until the end of the transaction; those that are not held yet get keys. */
    hold,
    /** Applies catalogs, no (source, owner, id) twice in a call. Afterwards they are served. */
    apply,
    /** Takes catalogs out of the index with all that belongs to them. */
    async remove(refs: readonly CatalogRef[]): Promise<void> {
      if (refs.length === 0) return;
      const held = (await hold(refs)).filter(({ known }) => known);
      // Whole, and with nothing in it: so its documents go, with what the index has of them.
      await apply(
        held.map(({ source, owner, type, networks, head }) => ({
          ...{ source, owner, type, networks, mode: 'FULL' as const },
          catalog: head as ReceivedCatalog,
        })),
      );
      for (const generation of generations) {
        const heads = createIndexChanges(generation);
        for (const { key, head, generation: newest } of held)
          if (generation.number <= newest) heads.add(keyOf(key, 0), head, undefined);
        await heads.write(tx);
      }
      await dropCatalogs(tx, refs);
    },
    /** How many resources and offers catalogs have, by their keys. */
    count: (catalogKeys: readonly number[]) => countDocuments(tx, catalogKeys),
  };
}

export interface AppliedCatalog extends CatalogRef {
  key: number;
  /** Whether it was held before. */
  known: boolean;
  /** Resources and offers that were new or changed, and those that went. */
  written: number;
  removed: number;
  unindexed: readonly UnindexedGeometry[];
}

async function applyCatalogs(
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
  await writeCatalogs(
    tx,
    targets.map(({ row }) => row),
    now,
  );
  return targets.map(({ before: { source, owner, id, key, known }, written, removed, unindexed }) => ({
    ...{ source, owner, id, key, known },
    ...{ written, removed, unindexed },
  }));
}
