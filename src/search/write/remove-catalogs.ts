import type { ReceivedCatalog } from '../../protocol/catalog.ts';
import type { Transaction } from '../../storage/database.ts';
import type { CatalogRef } from '../../storage/feeds/copies.ts';
import { dropCatalogs, lockPrecedence, settlePrecedence } from '../../storage/feeds/copies.ts';
import { holdCatalogs } from '../documents/catalogs.ts';
import { keyOf } from '../documents/keys.ts';
import { createListRemovals } from '../lists/remove.ts';
import { applyCatalogs } from './apply-catalogs.ts';
import { headEntries } from './document-entries.ts';
import { createIndexChanges } from './index-changes.ts';

/** Takes catalogs out of the index with all that belongs to them; another source's copy of one counts from now on. */
export async function removeCatalogs(tx: Transaction, refs: readonly CatalogRef[], now: Date): Promise<void> {
  if (refs.length === 0) return;
  await lockPrecedence(tx, refs);
  const held = (await holdCatalogs(tx, refs, now)).filter(({ known }) => known);
  // Whole, and with nothing in it: so its documents go, with what the index has of them.
  const emptied = held.map(({ source, owner, type, networks, head }) => ({
    ...{ source, owner, type, networks, mode: 'FULL' as const },
    catalog: head as ReceivedCatalog,
  }));
  await applyCatalogs(tx, emptied, now);
  const heads = createIndexChanges();
  for (const { key, head } of held) heads.add(keyOf(key, 0), headEntries(head), undefined);
  await heads.numberWords(tx);
  const removals = createListRemovals();
  await heads.write(tx, removals);
  await dropCatalogs(tx, refs);
  await settlePrecedence(tx, refs);
  await removals.write(tx);
}
