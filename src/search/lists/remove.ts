import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import { findSharedList } from './list-numbers.ts';
import {
  type Entry,
  entriesOf,
  inSlices,
  insertRuns,
  type ListEntries,
  listed,
  noteChanged,
  type RunKey,
  readRange,
  runsOf,
  type StoredRun,
  storedEntries,
  takeRuns,
} from './runs.ts';

// Removes entries from lists: the runs that hold them are rewritten without them. An entry stands in one run of its list, nearly always in the one that begins last before it, or else in a shared
// run. So that run is looked at first, and others only where runs overlap.
//
// Catalogs share runs. Any number of transactions remove entries at once, as long as each finds all its runs beforehand and locks them by one statement, in one order: so two never wait for each other. One that
// cannot (a run was rewritten meanwhile, again and again, or there is too much to remove at once) does it alone, under an advisory lock that the others hold shared. Either way what is locked
// stays so until the transaction ends, so removal is the last thing that it does (write/write-index.ts).

/** The removals of one transaction from the lists of one generation, pending until its end. */
export interface ListRemovals {
  add(tx: Transaction, lists: Iterable<ListEntries>): Promise<void>;
  /** Cancels the removal of entries that come again, and returns the others, which have to be added. */
  cancel(lists: Iterable<ListEntries>): ListEntries[];
  /** To be called when everything else is written. */
  write(tx: Transaction): Promise<void>;
}

/** Entries by list and name. The name has the mark: the same key may come into the list with another one. */
type Pending = Map<number, Map<string, Entry>>;

/** Entries that are kept in memory; more are removed before the end. */
const maxPending = 200_000;
/** Entries that are removed together, at least. */
const entriesAtOnce = 10_000;
/** Runs that are looked at for each entry, and so many times as many when it was in none of them. */
const firstDepth = 1;
const growth = 16;
const attempts = { besideOthers: 5, alone: 50 };
const removalLock = 'lists of the index';

export function createListRemovals(index: string): ListRemovals {
  const pending: Pending = new Map();
  let count = 0;
  let hasRemoved = false;
  async function write(tx: Transaction): Promise<void> {
    // What goes out of one list goes together: its runs are written once.
    const lists = [...pending].sort(([a], [b]) => a - b);
    const slices = [...inSlices(lists, ([, { size }]) => size, entriesAtOnce)].map((slice) => new Map(slice));
    // Who removes a second time would have to wait for others while they wait for what it removed the first time.
    const isOnlyOne = slices.length === 1 && !hasRemoved;
    for (const slice of slices) await removeFromLists(tx, index, slice, isOnlyOne);
    hasRemoved ||= count > 0;
    pending.clear();
    count = 0;
  }
  return {
    async add(tx, lists) {
      for (const entry of listed(lists)) {
        const entries = pending.get(entry.list) ?? new Map<string, Entry>();
        pending.set(entry.list, entries);
        const before = entries.size;
        entries.set(nameOf(entry), entry);
        count += entries.size - before;
      }
      if (count > maxPending) await write(tx);
    },
    cancel(lists) {
      if (count === 0) return [...lists];
      return Array.from(lists, ({ list, keys, marks }) => {
        const rest: ListEntries = { list, keys: [], marks: [] };
        for (const [index, key] of keys.entries()) {
          const mark = marks[index] ?? 0;
          if (forget(pending, { list, key, mark })) count--;
          else {
            rest.keys.push(key);
            rest.marks.push(mark);
          }
        }
        return rest;
      }).filter(({ keys }) => keys.length > 0);
    },
    write,
  };
}

function nameOf({ key, mark }: Entry): string {
  return `${mark} ${key}`;
}

function forget(pending: Pending, entry: Entry): boolean {
  const entries = pending.get(entry.list);
  const wasThere = entries?.delete(nameOf(entry)) ?? false;
  if (entries?.size === 0) pending.delete(entry.list);
  return wasThere;
}

/** Takes what it has removed out of `left`. */
async function removeFromLists(
  tx: Transaction,
  index: string,
  left: Pending,
  isOnlyOne: boolean,
): Promise<void> {
  await noteChanged(tx, [...left.keys()]);
  for (let attempt = 1; isOnlyOne && attempt <= attempts.besideOthers; attempt++)
    if (await removeBesideOthers(tx, index, left)) return;
  // Nobody else removes anything until the transaction ends.
  await waitForLock(tx, removalLock);
  // Compaction may move entries between runs meanwhile, so that one look finds them in none.
  for (let attempt = 1, inVain = 0; left.size > 0 && inVain < 2; attempt++) {
    if (attempt > attempts.alone)
      throw new Error('the lists of the index change too often to take keys out of them');
    const { holders } = await findHolders(tx, index, left);
    const taken = await takeHolders(tx, index, holders);
    for (const { held } of taken) for (const entry of held) forget(left, entry);
    inVain = holders.length === 0 ? inVain + 1 : 0;
  }
}

/** Removes all of it, or nothing: when an entry is not found, or a run was rewritten since it was found. */
async function removeBesideOthers(tx: Transaction, index: string, left: Pending): Promise<boolean> {
  const { holders, isAll } = await findHolders(tx, index, left);
  if (!isAll) return false;
  await tx.query('savepoint removal');
  await waitForLock(tx, removalLock, { isShared: true });
  const taken = await takeHolders(tx, index, holders);
  // Gives back the locks, too: one that holds some while it looks for others could be waited for.
  if (taken.length < holders.length) await tx.query('rollback to savepoint removal');
  return taken.length === holders.length;
}

/** Removes all entries under the keys of a range, whatever they are. */
export async function removeRange(
  tx: Transaction,
  index: string,
  range: { from: number; end: number },
): Promise<void> {
  await waitForLock(tx, removalLock);
  const isLeaving = ({ key }: Entry) => key >= range.from && key < range.end;
  for (;;) {
    const holders: Holder[] = [];
    for await (const run of readRange(tx, index, range)) {
      const holder = divideRun(run, isLeaving);
      if (holder.held.length > 0) holders.push(holder);
    }
    if (holders.length === 0) return;
    await takeHolders(tx, index, holders);
    await noteChanged(tx, [...new Set(holders.flatMap(({ held }) => held.map(({ list }) => list)))]);
  }
}

/** A run that holds entries that shall go. */
interface Holder extends RunKey {
  held: Entry[];
  kept: ListEntries;
}

/** The runs that hold entries, each entry in one of them. `isAll`: none is missing. */
async function findHolders(
  tx: Transaction,
  index: string,
  entries: Pending,
): Promise<{ holders: Holder[]; isAll: boolean }> {
  const wanted: Pending = new Map(Array.from(entries, ([list, each]) => [list, new Map(each)]));
  const holders: Holder[] = [];
  for (const isInShared of [false, true])
    for (let depth = firstDepth, isDeepest = false; wanted.size > 0 && !isDeepest; depth *= growth) {
      const runs = await readNearest(tx, index, wanted, depth, isInShared);
      for (const run of runs) {
        const holder = divideRun(run, (entry) => wanted.get(entry.list)?.has(nameOf(entry)) ?? false);
        for (const entry of holder.held) forget(wanted, entry);
        if (holder.held.length > 0) holders.push(holder);
      }
      isDeepest = runs.every((run) => run.depth < depth);
    }
  return { holders, isAll: wanted.size === 0 };
}

/** For each entry, so many of the runs that may hold it. */
async function readNearest(
  tx: Transaction,
  index: string,
  wanted: Pending,
  depth: number,
  isInShared: boolean,
): Promise<(StoredRun & { depth: number })[]> {
  const places = new Map<string, { list: number; key: number }>();
  for (const entries of wanted.values())
    for (const { list, key } of entries.values()) {
      const shared = isInShared ? findSharedList(list) : undefined;
      if (isInShared && shared === undefined) continue;
      const place = shared === undefined ? { list, key } : { list: shared, key: list };
      places.set(`${place.list} ${place.key}`, place);
    }
  if (places.size === 0) return [];
  const all = [...places.values()];
  const { rows } = await tx.query<StoredRun & { depth: number }>(
    `select run.*, depth from (
       select wanted.list, first, last, id, max(depth) as depth
       from unnest($1::bigint[], $2::float8[]) as wanted (list, key)
       cross join lateral (
         select first, last, id, row_number() over (order by first desc) as depth from ${index}.run
         where run.list = wanted.list and run.first <= wanted.key and run.last >= wanted.key
         order by first desc limit $3
       ) as candidate
       group by wanted.list, first, last, id
     ) as seen
     join ${index}.run using (list, first, last, id)`,
    [bigintArray(all.map(({ list }) => list)), doubleArray(all.map(({ key }) => key)), depth],
  );
  return rows;
}

function divideRun(run: StoredRun, isLeaving: (entry: Entry) => boolean): Holder {
  const { list, first, last, id } = run;
  const stored = entriesOf(list, [run]);
  const held: Entry[] = [];
  const kept: ListEntries = { list, keys: [], marks: [] };
  let index = 0;
  for (const entry of storedEntries(stored)) {
    if (isLeaving(entry)) held.push(entry);
    else {
      kept.keys.push(stored.keys[index] ?? 0);
      kept.marks.push(stored.marks[index] ?? 0);
    }
    index++;
  }
  return { list, first, last, id, held, kept };
}

/** Replaces those that are still there by what they keep, and returns them. Locked in one order, because compaction holds locks on runs too. */
async function takeHolders(tx: Transaction, index: string, holders: readonly Holder[]): Promise<Holder[]> {
  if (holders.length === 0) return [];
  const ids = await takeRuns(tx, index, holders, 'id', 'order by list, first, id for update');
  const taken = holders.filter(({ id }) => ids.has(id));
  await insertRuns(
    tx,
    index,
    taken.flatMap(({ kept }) => runsOf(kept)),
  );
  return taken;
}
