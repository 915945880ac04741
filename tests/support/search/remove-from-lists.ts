import { createListRemovals } from '../../../src/search/lists/remove.ts';
import type { ListEntries } from '../../../src/search/lists/runs.ts';
import type { Transaction } from '../../../src/storage/database.ts';

/** Removes entries at once, as the end of a transaction does. */
export async function removeFromLists(tx: Transaction, lists: Iterable<ListEntries>): Promise<void> {
  const removals = createListRemovals('index_1');
  await removals.add(tx, lists);
  await removals.write(tx);
}
