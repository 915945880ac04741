import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import { type CatalogRef, dropCatalogs } from '../../storage/feeds/copies.ts';
import { type IndexFormats, indexFormats } from '../entries/index-format.ts';
import { readWritten } from '../generations/in-use.ts';
import { keyOf } from '../keys.ts';
import { type AppliedCatalog, applyCatalogs } from './apply-catalogs.ts';
import { type HeldCatalog, holdCatalogs } from './catalog-rows.ts';
import { countDocuments } from './document-rows.ts';
import { createIndexChanges } from './index-changes.ts';
import type { IncomingCatalog } from './target.ts';

/** Writes to the index in one transaction of the caller, for push, pull and crawl alike. */
export interface IndexWriter {
  /** Locks catalogs until the end of the transaction; those that are not held yet get keys. */
  hold(refs: readonly CatalogRef[]): Promise<HeldCatalog[]>;
  /** Applies catalogs, no (source, owner, id) twice in a call. Afterwards they are served. */
  apply(catalogs: readonly IncomingCatalog[]): Promise<AppliedCatalog[]>;
  /** Takes catalogs out of the index with all that belongs to them. */
  remove(refs: readonly CatalogRef[]): Promise<void>;
  /** How many resources and offers catalogs have, by their keys. */
  count(catalogKeys: readonly number[]): Promise<Map<number, { resources: number; offers: number }>>;
}

/**
 * The unit of work of the index. Removals from lists are kept pending, and written as the last thing, because the runs that they rewrite stay locked until the end of the transaction. So let the work be all that
 * the transaction does. An entry that comes again while its removal is pending stays where it is, so that a catalog may be written several times.
 */
export async function writeIndex<T>(
  tx: Transaction,
  now: Date,
  work: (writer: IndexWriter) => Promise<T>,
  formats: IndexFormats = indexFormats,
): Promise<T> {
  const generations = await readWritten(tx, formats);
  const hold = (refs: readonly CatalogRef[]) => holdCatalogs(tx, refs, generations);
  const apply = (catalogs: readonly IncomingCatalog[]) => applyCatalogs(tx, catalogs, generations, now);

  const result = await work({
    hold,
    apply,
    async remove(refs) {
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
    count: (catalogKeys) => countDocuments(tx, catalogKeys),
  });
  for (const { removals } of generations) await removals.write(tx);
  return result;
}
