import { arraysOf, bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import type { KeyRange } from '../keys.ts';
import { inBatches } from '../set/sorted.ts';
import { findSharedList } from './list-numbers.ts';
import {
  type Entry,
  entriesOf,
  insertRuns,
  noteChanged,
  readRange,
  rewritingLock,
  runsOf,
  type StoredRun,
  takeRuns,
  unshare,
} from './runs.ts';

// Removes entries from lists: their runs are rewritten without them. An entry is nearly always in the last run that begins before it, or else in a shared run.
// Catalogs share runs. So only one transaction at a time rewrites runs, from its first removal to its end. That is why removal is its last step (write/write-index.ts).

export type ListRemovals = ReturnType<typeof createListRemovals>;

/** Maximum of entries in memory. More are removed before the end. */
const maxPending = 200_000;
/** Entries that are removed together. */
const entriesAtOnce = 10_000;
/** Number of runs that are searched for each entry, and then for entries that were in none of them. */
const depths = [1, 16, 1_000_000];

/** The removals of one transaction from the lists of one generation, pending until its end. */
export function createListRemovals(index: string) {
  const pending = new Map<string, Entry>();
  /** Must be called when everything else is written. */
  async function write(tx: Transaction): Promise<void> {
    // Removals from one list are done together, so that its runs are written once.
    const all = [...pending.values()].sort((a, b) => a.list - b.list);
    for (const some of inBatches(all, entriesAtOnce)) await removeEntries(tx, index, some);
    pending.clear();
  }
  return {
    async add(tx: Transaction, entries: readonly Entry[]): Promise<void> {
      for (const entry of entries) pending.set(nameOf(entry), entry);
      if (pending.size > maxPending) await write(tx);
    },
    /** Cancels the removal of entries that are added again, and returns the others, which must be added. */
    cancel: (entries: readonly Entry[]) =>
      pending.size === 0 ? entries : entries.filter((entry) => !pending.delete(nameOf(entry))),
    write,
  };
}

/** Includes the mark, because the same key may be added with another mark. */
function nameOf({ list, key, mark }: Entry): string {
  return `${list} ${key} ${mark}`;
}

async function removeEntries(tx: Transaction, index: string, entries: readonly Entry[]): Promise<void> {
  await noteChanged(tx, [...new Set(entries.map(({ list }) => list))]);
  await waitForLock(tx, rewritingLock);
  const left = new Map(entries.map((entry) => [nameOf(entry), entry]));
  for (const depth of depths) {
    const runs = left.size > 0 ? await readNearest(tx, index, [...left.values()], depth) : [];
    await rewriteRuns(tx, index, runs, (entry) => left.delete(nameOf(entry)));
  }
}

/** Removes all entries under the keys of a range. */
export async function removeRange(tx: Transaction, index: string, range: KeyRange): Promise<void> {
  await waitForLock(tx, rewritingLock);
  const lists = new Set<number>();
  for await (const runs of readRange(tx, index, range))
    await rewriteRuns(tx, index, runs, ({ list, key }) => {
      const isLeaving = key >= range.from && key < range.end;
      if (isLeaving) lists.add(list);
      return isLeaving;
    });
  await noteChanged(tx, [...lists]);
}

/** The nearest `depth` runs that may contain each entry. */
function readNearest(tx: Transaction, index: string, wanted: readonly Entry[], depth: number) {
  const places = wanted.flatMap(({ list, key }) => {
    const shared = findSharedList(list);
    return [{ list, key }, ...(shared === undefined ? [] : [{ list: shared, key: list }])];
  });
  return tx.rows<StoredRun>(
    `select run.* from (
       select distinct wanted.list, first, last, id
       from (select distinct * from unnest($1::bigint[], $2::float8[])) as wanted (list, key)
       cross join lateral (
         select first, last, id from ${index}.run
         where run.list = wanted.list and run.first <= wanted.key and run.last >= wanted.key
         order by first desc limit $3
       ) as candidate
     ) as seen
     join ${index}.run using (list, first, last, id)`,
    [...arraysOf(places, { list: bigintArray, key: doubleArray }), depth],
  );
}

/** Rewrites the runs that contain leaving entries. */
async function rewriteRuns(
  tx: Transaction,
  index: string,
  runs: readonly StoredRun[],
  isLeaving: (entry: Entry) => boolean,
): Promise<void> {
  const changed = runs
    .map((run) => ({ run, kept: entriesOf(run).filter((entry) => !isLeaving(unshare(entry))) }))
    .filter(({ run, kept }) => kept.length < run.count);
  if (changed.length === 0) return;
  const gone = changed.map(({ run }) => run);
  await takeRuns(tx, index, gone, 'id');
  const rewritten = changed.flatMap(({ kept }) => runsOf(kept));
  await insertRuns(tx, index, rewritten);
}
