import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { entryName, type ListedEntry, type PendingRemovals } from './pending-removals.ts';
import {
  entriesOf,
  isOfNumbers,
  type ListEntries,
  type RunKey,
  runKeyArrays,
  type StoredRun,
  unnestedRunKeys,
} from './runs.ts';
import { findSharedList } from './shared-runs.ts';

// The runs of posting lists that hold entries that shall be removed: found, divided into what goes and what stays, and taken. A run is never changed: it is there as it was found, or gone.

/** Which runs may hold an entry of a list. */
export interface Location {
  /** The list of these runs, and where in its order the entry stands. */
  find(entry: ListedEntry): { list: number; sortKey: number } | undefined;
  /** The entry that stands in such a run. */
  read(entry: ListedEntry): ListedEntry;
}

export const inOwnRuns: Location = {
  find: ({ list, key, mark }) => ({ list, sortKey: isOfNumbers(list) ? mark : key }),
  read: (entry) => entry,
};

export const inSharedRuns: Location = {
  find({ list }) {
    const shared = findSharedList(list);
    return shared === undefined ? undefined : { list: shared, sortKey: list };
  },
  read: ({ key, mark }) => ({ list: mark, key, mark: 0 }),
};

/** A run that holds entries that shall go. */
export interface Holder extends RunKey {
  held: ListedEntry[];
  kept: ListEntries;
}

export interface FoundHolders {
  holders: Holder[];
  /** Whether no other run may hold an entry. */
  isAll: boolean;
}

/** Those among so many runs as may hold each entry. */
export async function findHolders(
  tx: Transaction,
  left: PendingRemovals,
  depth: number,
  location: Location,
): Promise<FoundHolders> {
  const sortKeys = findSortKeys(left, location);
  if (sortKeys.length === 0) return { holders: [], isAll: true };
  const { rows } = await tx.query<StoredRun & { depth: number }>(
    `select run.*, depth from (
       select wanted.list, first, last, id, max(depth) as depth
       from unnest($1::bigint[], $2::float8[]) as wanted (list, sort_key)
       cross join lateral (
         select first, last, id, row_number() over (order by first desc) as depth from discovery.run
         where run.list = wanted.list and run.first <= wanted.sort_key and run.last >= wanted.sort_key
         order by first desc limit $3
       ) as candidate
       group by wanted.list, first, last, id
     ) as seen
     join discovery.run using (list, first, last, id)`,
    [
      bigintArray(sortKeys.map(({ list }) => list)),
      doubleArray(sortKeys.map(({ sortKey }) => sortKey)),
      depth,
    ],
  );
  return {
    holders: rows.map((run) => divideRun(run, left, location)).filter(({ held }) => held.length > 0),
    isAll: rows.every((run) => run.depth < depth),
  };
}

/** Where in the order of lists the entries may stand, each once. */
function findSortKeys(left: PendingRemovals, location: Location): { list: number; sortKey: number }[] {
  const found = new Map<string, { list: number; sortKey: number }>();
  for (const [list, entries] of left)
    for (const entry of entries.values()) {
      const position = location.find({ list, ...entry });
      if (position) found.set(`${position.list} ${position.sortKey}`, position);
    }
  return [...found.values()];
}

function divideRun(run: StoredRun, left: PendingRemovals, location: Location): Holder {
  const { list, first, last, id } = run;
  const { keys, marks } = entriesOf(list, [run]);
  const held: ListedEntry[] = [];
  const kept: ListEntries = { list, keys: [], marks: [] };
  for (const [index, key] of keys.entries()) {
    const mark = marks[index] ?? 0;
    const entry = location.read({ list, key, mark });
    if (left.get(entry.list)?.has(entryName(entry))) held.push(entry);
    else {
      kept.keys.push(key);
      kept.marks.push(mark);
    }
  }
  return { list, first, last, id, held, kept };
}

/** Deletes those that are still there, and returns them. Locked in one order, because compaction holds locks on runs too. */
export async function takeHolders(tx: Transaction, holders: readonly Holder[]): Promise<Holder[]> {
  if (holders.length === 0) return [];
  const { rows } = await tx.query<{ id: number }>(
    `delete from discovery.run where ctid = any (array(
       select ctid from discovery.run where (list, first, last, id) in (${unnestedRunKeys}) order by list, first, id for update
     )) returning id`,
    runKeyArrays(holders),
  );
  const ids = new Set(rows.map(({ id }) => id));
  return holders.filter(({ id }) => ids.has(id));
}
