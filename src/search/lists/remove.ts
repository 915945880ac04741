import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import { findSharedList, isShared } from './list-numbers.ts';
import {
  entriesOf,
  insertRuns,
  type ListEntries,
  noteChanged,
  type RunKey,
  runKeyArrays,
  runsOf,
  type StoredRun,
  unnestedRunKeys,
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

interface Entry {
  list: number;
  key: number;
  mark: number;
}

/** Entries that are kept in memory; more are removed before the end. */
const maxPending = 200_000;
/** Entries that are removed together, at least. */
const entriesAtOnce = 10_000;
/** Runs that are looked at for each entry, and so many times as many when it was in none of them. */
const firstDepth = 1;
const growth = 16;
const attemptsBesideOthers = 5;
const attemptsAlone = 50;
const removalLock = 'lists of the index';

export function createListRemovals(index: string): ListRemovals {
  const pending: Pending = new Map();
  let count = 0;
  let hasRemoved = false;
  async function write(tx: Transaction): Promise<void> {
    const slices = [...inSlices(pending)];
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

function* listed(lists: Iterable<ListEntries>): Generator<Entry> {
  for (const { list, keys, marks } of lists)
    for (const [index, key] of keys.entries()) yield { list, key, mark: marks[index] ?? 0 };
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

/** What goes out of one list goes together: its runs are written once. */
function* inSlices(pending: Pending): Generator<Pending> {
  let slice: Pending = new Map();
  let count = 0;
  for (const [list, entries] of [...pending].sort(([a], [b]) => a - b)) {
    if (count >= entriesAtOnce) {
      yield slice;
      [slice, count] = [new Map(), 0];
    }
    slice.set(list, new Map(entries));
    count += entries.size;
  }
  if (slice.size > 0) yield slice;
}

/** Takes what it has removed out of `left`. */
async function removeFromLists(
  tx: Transaction,
  index: string,
  left: Pending,
  isOnlyOne: boolean,
): Promise<void> {
  await noteChanged(tx, [...left.keys()]);
  for (let attempt = 1; isOnlyOne && attempt <= attemptsBesideOthers; attempt++)
    if (await removeBesideOthers(tx, index, left)) return;
  // Nobody else removes anything until the transaction ends.
  await waitForLock(tx, removalLock);
  // Compaction may move entries from shared runs to those of their list meanwhile.
  for (const isInShared of [false, true, false]) await removeAlone(tx, index, left, isInShared);
}

/** Removes all of it, or nothing: when an entry is not found, or a run was rewritten since it was found. */
async function removeBesideOthers(tx: Transaction, index: string, left: Pending): Promise<boolean> {
  const wanted: Pending = new Map(Array.from(left, ([list, entries]) => [list, new Map(entries)]));
  const holders: Holder[] = [];
  for (const isInShared of [false, true])
    for (let depth = firstDepth; wanted.size > 0; depth *= growth) {
      const found = await findHolders(tx, index, wanted, depth, isInShared);
      for (const { held } of found.holders) for (const entry of held) forget(wanted, entry);
      holders.push(...found.holders);
      if (found.isAll) break;
    }
  if (wanted.size > 0) return false;

  await tx.query('savepoint removal');
  await waitForLock(tx, removalLock, { isShared: true });
  const taken = await takeHolders(tx, index, holders);
  if (taken.length < holders.length) {
    // Gives back the locks, too: one that holds some while it looks for others could be waited for.
    await tx.query('rollback to savepoint removal');
    return false;
  }
  await writeKept(tx, index, taken);
  return true;
}

async function removeAlone(
  tx: Transaction,
  index: string,
  left: Pending,
  isInShared: boolean,
): Promise<void> {
  for (let attempt = 1, depth = firstDepth; left.size > 0; attempt++) {
    if (attempt > attemptsAlone)
      throw new Error('the lists of the index change too often to take keys out of them');
    const { holders, isAll } = await findHolders(tx, index, left, depth, isInShared);
    const taken = await takeHolders(tx, index, holders);
    await writeKept(tx, index, taken);
    for (const { held } of taken) for (const entry of held) forget(left, entry);
    // A run that was rewritten since it was found has gone: what it held is looked for again, where it is now.
    if (taken.length < holders.length) continue;
    if (isAll) return;
    depth *= growth;
  }
}

/** A run that holds entries that shall go. */
interface Holder extends RunKey {
  held: Entry[];
  kept: ListEntries;
}

/** Those among so many runs as may hold each entry; `isAll`: no other run may. */
async function findHolders(
  tx: Transaction,
  index: string,
  left: Pending,
  depth: number,
  isInShared: boolean,
): Promise<{ holders: Holder[]; isAll: boolean }> {
  const places = new Map<string, { list: number; key: number }>();
  for (const entries of left.values())
    for (const { list, key } of entries.values()) {
      const shared = isInShared ? findSharedList(list) : undefined;
      if (isInShared && shared === undefined) continue;
      const place = shared === undefined ? { list, key } : { list: shared, key: list };
      places.set(`${place.list} ${place.key}`, place);
    }
  if (places.size === 0) return { holders: [], isAll: true };
  const wanted = [...places.values()];
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
    [bigintArray(wanted.map(({ list }) => list)), doubleArray(wanted.map(({ key }) => key)), depth],
  );
  return {
    holders: rows.map((run) => divideRun(run, left)).filter(({ held }) => held.length > 0),
    isAll: rows.every((run) => run.depth < depth),
  };
}

function divideRun(run: StoredRun, left: Pending): Holder {
  const { list, first, last, id } = run;
  const held: Entry[] = [];
  const kept: ListEntries = { list, keys: [], marks: [] };
  for (const stored of listed([entriesOf(list, [run])])) {
    const { key, mark } = stored;
    const entry = isShared(list) ? { list: key, key: mark, mark: 0 } : stored;
    if (left.get(entry.list)?.has(nameOf(entry))) held.push(entry);
    else {
      kept.keys.push(key);
      kept.marks.push(mark);
    }
  }
  return { list, first, last, id, held, kept };
}

/** Deletes those that are still there, and returns them. Locked in one order, because compaction holds locks on runs too. */
async function takeHolders(tx: Transaction, index: string, holders: readonly Holder[]): Promise<Holder[]> {
  if (holders.length === 0) return [];
  const { rows } = await tx.query<{ id: number }>(
    `delete from ${index}.run where ctid = any (array(
       select ctid from ${index}.run where (list, first, last, id) in (${unnestedRunKeys}) order by list, first, id for update
     )) returning id`,
    runKeyArrays(holders),
  );
  const ids = new Set(rows.map(({ id }) => id));
  return holders.filter(({ id }) => ids.has(id));
}

async function writeKept(tx: Transaction, index: string, taken: readonly Holder[]): Promise<void> {
  await insertRuns(
    tx,
    index,
    taken.flatMap(({ kept }) => runsOf(kept)),
  );
}
