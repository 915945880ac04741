import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import {
  entriesOf,
  insertRuns,
  isOfNumbers,
  type ListEntries,
  noteChanged,
  type RunKey,
  runKeyArrays,
  runsOf,
  type StoredRun,
  unnestedRunKeys,
} from './runs.ts';
import { findSharedList } from './shared-runs.ts';

// Removes keys from posting lists: the runs that hold them are rewritten without them. A key stands in one run of a list, nearly always in the one that begins last before it. So that run is
// looked at first, and others only where runs overlap. An entry that is in no run of its list may be in a shared one.
//
// Catalogs share runs. Any number of transactions remove keys at once, as long as each finds all its runs beforehand and locks them by one statement, in one order: so two never wait for
// each other. One that cannot (a run was rewritten meanwhile, again and again, or there is too much to remove at once) does it alone, under an advisory lock that the others hold shared.
// Either way what is locked stays so until the transaction ends, so removal is the last thing that it does (write/write-index.ts).

/** The removals of one transaction, pending until its end. */
export interface ListRemovals {
  add(tx: Transaction, lists: Iterable<ListEntries>): Promise<void>;
  /** Cancels the removal of entries that come again, and returns the others, which have to be added. */
  cancel(lists: Iterable<ListEntries>): ListEntries[];
  /** To be called when everything else is written. */
  write(tx: Transaction): Promise<void>;
}

export function createListRemovals(): ListRemovals {
  const pending: PendingRemovals = new Map();
  let count = 0;
  let hasRemoved = false;
  async function write(tx: Transaction): Promise<void> {
    const slices = [...inSlices(pending)];
    // Who removes a second time would have to wait for others while they wait for what it removed the first time.
    const isOnlyOne = slices.length === 1 && !hasRemoved;
    for (const slice of slices) await removeFromLists(tx, slice, isOnlyOne);
    hasRemoved ||= count > 0;
    pending.clear();
    count = 0;
  }
  return {
    async add(tx, lists) {
      count += addPending(pending, lists);
      if (count <= maxPending) return;
      await lockSiblings(tx);
      await write(tx);
    },
    cancel(lists) {
      if (count === 0) return [...lists];
      return Array.from(lists, (entries) => {
        const rest = cancelEntries(pending, entries);
        count -= entries.keys.length - rest.keys.length;
        return rest;
      }).filter(({ keys }) => keys.length > 0);
    },
    write,
  };
}

/** For changes of siblings (write/siblings.ts), which come before the removals of a transaction. Who removes entries earlier takes this lock first: in another order, two would wait for each other. */
export async function lockSiblings(tx: Transaction): Promise<void> {
  await waitForLock(tx, 'siblings of the index');
}

/** More entries are not kept in memory. */
const maxPending = 200_000;
/** As many, at least, are taken out together. */
const entriesAtOnce = 10_000;

/** By list and name. */
type PendingRemovals = Map<number, Map<string, Entry>>;

interface Entry {
  key: number;
  mark: number;
}

/** Returns how many are new. */
function addPending(pending: PendingRemovals, lists: Iterable<ListEntries>): number {
  let count = 0;
  for (const { list, keys, marks } of lists) {
    const entries = pending.get(list) ?? new Map<string, Entry>();
    const before = entries.size;
    for (const [index, key] of keys.entries()) {
      const entry = { key, mark: marks[index] ?? 0 };
      entries.set(entryName(entry), entry);
    }
    if (entries.size > 0) pending.set(list, entries);
    count += entries.size - before;
  }
  return count;
}

function entryName({ key, mark }: Entry): string {
  return `${mark} ${key}`;
}

/** Returns those that were not pending. */
function cancelEntries(pending: PendingRemovals, entries: ListEntries): ListEntries {
  const { list, keys, marks } = entries;
  const ofList = pending.get(list);
  if (ofList === undefined) return entries;
  const rest: ListEntries = { list, keys: [], marks: [] };
  for (const [index, key] of keys.entries()) {
    const mark = marks[index] ?? 0;
    if (ofList.delete(entryName({ key, mark }))) continue;
    rest.keys.push(key);
    rest.marks.push(mark);
  }
  if (ofList.size === 0) pending.delete(list);
  return rest;
}

/** What goes out of one list goes together: its runs are written once. */
function* inSlices(pending: PendingRemovals): Generator<PendingRemovals> {
  let slice: PendingRemovals = new Map();
  let count = 0;
  for (const [list, entries] of [...pending].sort(([a], [b]) => a - b)) {
    if (count >= entriesAtOnce) {
      yield slice;
      slice = new Map();
      count = 0;
    }
    slice.set(list, entries);
    count += entries.size;
  }
  yield slice;
}

/** Runs that are looked at for each entry, and so many times as many when it was in none of them. */
const firstDepth = 1;
const growth = 16;
const maxAttempts = 50;

/** Takes what it has removed out of `left`. An entry that goes is named with its mark: the same key may come into the list with another one. */
async function removeFromLists(tx: Transaction, left: PendingRemovals, isOnlyOne: boolean): Promise<void> {
  if (left.size === 0) return;
  await noteChanged(
    tx,
    Array.from(left.keys(), (list) => ({ list })),
  );
  for (let attempt = 1; isOnlyOne && attempt <= attemptsBesideOthers; attempt++)
    if (await removeBesideOthers(tx, left)) return;
  await removeAlone(tx, left);
}

const attemptsBesideOthers = 5;
const removalLock = 'lists of the index';

/** Removes all of it, or nothing: when an entry is not found, or a run was rewritten since it was found. */
async function removeBesideOthers(tx: Transaction, left: PendingRemovals): Promise<boolean> {
  const wanted = copyOf(left);
  const holders = [...(await findAll(tx, wanted, inOwnRuns)), ...(await findAll(tx, wanted, inSharedRuns))];
  if (wanted.size > 0) return false;

  await tx.query('savepoint removal');
  await waitForLock(tx, removalLock, { isShared: true });
  const taken = await takeHolders(tx, holders);
  if (taken.length < holders.length) {
    // Gives back the locks, too: one that holds some while it looks for others could be waited for.
    await tx.query('rollback to savepoint removal');
    return false;
  }
  await insertRuns(
    tx,
    taken.flatMap(({ kept }) => runsOf(kept)),
  );
  left.clear();
  return true;
}

/** The runs that hold the entries, however many overlap. Takes what it has found out of `wanted`. */
async function findAll(tx: Transaction, wanted: PendingRemovals, location: Location): Promise<Holder[]> {
  const all: Holder[] = [];
  for (let depth = firstDepth; wanted.size > 0; depth *= growth) {
    const { holders, isAll } = await findHolders(tx, wanted, depth, location);
    for (const { held } of holders) forget(wanted, held);
    all.push(...holders);
    if (isAll) break;
  }
  return all;
}

function copyOf(entries: PendingRemovals): PendingRemovals {
  return new Map(Array.from(entries, ([list, ofList]) => [list, new Map(ofList)]));
}

/** Nobody else removes anything until the transaction ends. Runs are looked for before the lock is taken: most are still there then, and a run is never changed. */
async function removeAlone(tx: Transaction, left: PendingRemovals): Promise<void> {
  const found = await findHolders(tx, left, firstDepth, inOwnRuns);
  await waitForLock(tx, removalLock);
  await removeFromRuns(tx, left, inOwnRuns, found);
  await removeFromRuns(tx, left, inSharedRuns);
  // Compaction may have moved entries from shared runs to those of their list meanwhile.
  await removeFromRuns(tx, left, inOwnRuns);
}

async function removeFromRuns(
  tx: Transaction,
  left: PendingRemovals,
  location: Location,
  found?: FoundHolders,
): Promise<void> {
  for (let attempt = 1, depth = firstDepth; left.size > 0; attempt++) {
    if (attempt > maxAttempts)
      throw new Error('the lists of the index change too often to take keys out of them');
    const isKnown = attempt === 1 && found !== undefined;
    const { holders, isAll } = isKnown ? found : await findHolders(tx, left, depth, location);
    const taken = await takeHolders(tx, holders);
    await insertRuns(
      tx,
      taken.flatMap(({ kept }) => runsOf(kept)),
    );
    for (const { held } of taken) forget(left, held);
    // A run that was rewritten since it was found has gone: what it held is looked for again, where it is now.
    if (taken.length < holders.length) continue;
    if (isAll) return;
    depth *= growth;
  }
}

function forget(left: PendingRemovals, held: readonly ListedEntry[]): void {
  for (const { list, ...entry } of held) {
    const entries = left.get(list);
    entries?.delete(entryName(entry));
    if (entries?.size === 0) left.delete(list);
  }
}

interface ListedEntry extends Entry {
  list: number;
}

/** Which runs may hold an entry of a list. */
interface Location {
  /** The list of these runs, and where in its order the entry stands. */
  find(entry: ListedEntry): { list: number; sortKey: number } | undefined;
  /** The entry that stands in such a run. */
  read(entry: ListedEntry): ListedEntry;
}

const inOwnRuns: Location = {
  find: ({ list, key, mark }) => ({ list, sortKey: isOfNumbers(list) ? mark : key }),
  read: (entry) => entry,
};

const inSharedRuns: Location = {
  find({ list }) {
    const shared = findSharedList(list);
    return shared === undefined ? undefined : { list: shared, sortKey: list };
  },
  read: ({ key, mark }) => ({ list: mark, key, mark: 0 }),
};

/** A run that holds entries that shall go. */
interface Holder extends RunKey {
  held: ListedEntry[];
  kept: ListEntries;
}

interface FoundHolders {
  holders: Holder[];
  /** Whether no other run may hold an entry. */
  isAll: boolean;
}

/** Those among so many runs as may hold each entry. */
async function findHolders(
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
async function takeHolders(tx: Transaction, holders: readonly Holder[]): Promise<Holder[]> {
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
