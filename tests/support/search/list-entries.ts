import { createListRemovals } from '../../../src/search/lists/remove.ts';
import { addToLists as addEntries, type Entry } from '../../../src/search/lists/runs.ts';
import type { Transaction } from '../../../src/storage/database.ts';

/** Entries of one list. */
export interface ListEntries {
  list: number;
  keys: readonly number[];
  marks: readonly number[];
}

export function entriesIn(lists: readonly ListEntries[]): Entry[] {
  return lists.flatMap(({ list, keys, marks }) =>
    keys.map((key, index) => ({ list, key, mark: marks[index] ?? 0 })),
  );
}

export function addToLists(tx: Transaction, index: string, lists: readonly ListEntries[]): Promise<void> {
  return addEntries(tx, index, entriesIn(lists));
}

/** Removes entries at once, like the end of a transaction. */
export async function removeFromLists(tx: Transaction, lists: readonly ListEntries[]): Promise<void> {
  const removals = createListRemovals('index_1');
  await removals.add(tx, entriesIn(lists));
  await removals.write(tx);
}
