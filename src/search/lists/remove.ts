import type { Transaction } from '../../storage/database.ts';
import { waitForLock } from '../../storage/wait-for-lock.ts';
import {
  addPending,
  cancelEntries,
  copyOf,
  forget,
  inSlices,
  type PendingRemovals,
} from './pending-removals.ts';
import {
  type FoundHolders,
  findHolders,
  type Holder,
  inOwnRuns,
  inSharedRuns,
  type Location,
  takeHolders,
} from './run-holders.ts';
import { insertRuns, type ListEntries, noteChanged, runsOf } from './runs.ts';

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
/** Runs that are looked at for each entry, and so many times as many when it was in none of them. */
const firstDepth = 1;
const growth = 16;
const maxAttempts = 50;

/** Takes what it has removed out of `left`. */
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
