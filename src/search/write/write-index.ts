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

// How catalogs get into the index, for push, pull and crawl alike, in one transaction of the caller:
//
//   hold       locks the catalogs' rows; new catalogs get keys
//   compare    finds new, changed and removed documents by digest; the others are not touched (plan-steps.ts)
//   write      documents, and only the differences in the index between the old document and the new one (apply-documents.ts, index-changes.ts)
//   update     updates or inserts the catalogs' rows: members, networks, schema types, validity
//   remove     removes entries from lists at the end

export type IndexWriter = ReturnType<typeof createWriter>;

/** The unit of work of the index. It should be the whole transaction: removals from lists come last, because they lock runs until its end. */
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
    /** Locks catalogs until the end of the transaction. New ones get keys. */
    hold,
    /** Applies catalogs, each (source, owner, id) once per call. Afterwards they are served. */
    apply,
    /** Removes catalogs from the index, with everything that belongs to them. */
    async remove(refs: readonly CatalogRef[]): Promise<void> {
      if (refs.length === 0) return;
      const held = (await hold(refs)).filter(({ known }) => known);
      // A FULL catalog without resources and offers removes its documents and their index entries.
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
    /** The number of resources and offers of each catalog, by key. */
    count: (catalogKeys: readonly number[]) => countDocuments(tx, catalogKeys),
  };
}

export interface AppliedCatalog extends CatalogRef {
  key: number;
  /** Number of new or changed resources and offers, and of removed ones. */
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
  const rows = targets.map(({ row }) => row);
  await writeCatalogs(tx, rows, now);
  return targets.map(({ row: { source, owner, id, key }, written, removed, unindexed }) => ({
    ...{ source, owner, id, key, written, removed, unindexed },
  }));
}
