import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import { type CatalogRef, dropCatalogs } from '../../storage/feeds/copies.ts';
import { type HeldCatalog, holdCatalogs } from '../documents/catalogs.ts';
import { countDocuments } from '../documents/documents.ts';
import { keyOf } from '../documents/keys.ts';
import { type IndexFormats, indexFormats, newestOf } from '../format/index-format.ts';
import { type AppliedCatalog, applyCatalogs } from './apply-catalogs.ts';
import { createIndexChanges } from './index-changes.ts';
import { createIndexUnit } from './index-unit.ts';
import { readHeadEntries } from './stored-entries.ts';
import { formatsOf, type IncomingCatalog } from './target.ts';

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
 * The unit of work of the index. Removals from posting lists are kept pending, and written as the last thing, because the runs that they
 * rewrite stay locked until the end of the transaction. So let the work be all that the transaction does. An entry that comes again while its removal is pending
 * stays where it is, so that a catalog may be written several times.
 */
export async function writeIndex<T>(
  tx: Transaction,
  now: Date,
  work: (writer: IndexWriter) => Promise<T>,
  formats: IndexFormats = indexFormats,
): Promise<T> {
  const hold = (refs: readonly CatalogRef[]) => holdCatalogs(tx, refs, newestOf(formats).version);
  const unit = createIndexUnit();
  const apply = (catalogs: readonly IncomingCatalog[]) => applyCatalogs(tx, catalogs, unit, now, formats);

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
      const heads = createIndexChanges();
      for (const { key, owner, provider_id, words, ...versions } of held) {
        heads.add(formatsOf(versions, formats)(), keyOf(key, 0), readHeadEntries(words), undefined);
        unit.siblings.note({ key, owner, before: provider_id });
        unit.reach.forget(key);
      }
      await heads.write(tx, unit.removals);
      await dropCatalogs(tx, refs);
    },
    count: (catalogKeys) => countDocuments(tx, catalogKeys),
  });
  await unit.write(tx);
  return result;
}
