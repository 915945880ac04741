import { findKeys } from './number-list.ts';
import { type KeyList, lowerBound, sortPostings } from './posting-list.ts';

// Shared runs. Most facts of a resource are its own: ids, serial numbers. A row for each such list takes 150 bytes of the table and its index. So where a transaction adds few entries each to many
// lists of facts, these entries stand together in shared lists: the number of the list and the key, in the order of lists, kept as lists of numbers are (number-list.ts). A list is what
// stands in its own runs and in the shared ones.

/** Keys that are on their way into a list, or out of it. */
export interface ListEntries {
  list: number;
  keys: number[];
  /** What stands beside each key: how much a word counts there, in a list of numbers the value; otherwise 0. */
  marks: number[];
}

/** The first of the shared lists, which come before those of numbers in the order of lists from above. */
export const firstSharedList = -(2 ** 51) - 1;
/** An entry is in one of so many shared lists. More of them make shorter runs; fewer make more runs in each, to be told apart by their bounds. */
const sharedLists = 128;
/** Fewer entries would not fill their runs. */
const minShared = 8 * sharedLists;
/** More entries of one list take less room in a run of their own. */
const maxOfList = 4;

/** The shared list that may hold entries of a list; undefined where none does. */
export function findSharedList(list: number): number | undefined {
  return isShareable(list) ? firstSharedList - (list % sharedLists) : undefined;
}

/** Those of facts, whose entries have no weight. */
function isShareable(list: number): boolean {
  return list >= 0;
}

/** Puts entries of lists that get few of them into shared lists, if there are many such lists. */
export function shareRuns(lists: readonly ListEntries[]): readonly ListEntries[] {
  const areFew = ({ list, keys }: ListEntries) => isShareable(list) && keys.length <= maxOfList;
  let count = 0;
  for (const entries of lists) if (areFew(entries)) count++;
  if (count < minShared) return lists;
  const others: ListEntries[] = [];
  const shared = Array.from({ length: sharedLists }, (_, index) => ({
    list: firstSharedList - index,
    keys: [] as number[],
    marks: [] as number[],
  }));
  for (const entries of lists) {
    const into = areFew(entries) && shared[entries.list % sharedLists];
    if (!into) {
      others.push(entries);
      continue;
    }
    for (const key of entries.keys) {
      into.keys.push(key);
      into.marks.push(entries.list);
    }
  }
  return [...others, ...shared.filter(({ keys }) => keys.length > 0)];
}

/** What compaction makes of the entries of a shared list: a list that has got many of them, transaction by transaction, gets runs of its own, where a key takes a third of the room. */
export function separateLong(shared: ListEntries): ListEntries[] {
  if (!isShared(shared.list)) return [shared];
  const counts = new Map<number, number>();
  for (const list of shared.marks) counts.set(list, (counts.get(list) ?? 0) + 1);
  const own = new Map<number, ListEntries>();
  const rest: ListEntries = { list: shared.list, keys: [], marks: [] };
  for (const [index, key] of shared.keys.entries()) {
    const list = shared.marks[index] as number;
    const isLong = (counts.get(list) ?? 0) >= minOfOwn;
    const into = isLong ? (own.get(list) ?? { list, keys: [], marks: [] }) : rest;
    if (isLong) own.set(list, into);
    into.keys.push(key);
    into.marks.push(isLong ? 0 : list);
  }
  return [rest, ...own.values()].filter(({ keys }) => keys.length > 0);
}

/** From so many on, a run of their own takes less room. */
const minOfOwn = 32;

/** Whether a list is a shared one. */
export function isShared(list: number): boolean {
  return list <= firstSharedList && list > firstSharedList - sharedLists;
}

/** Selects the bytes of all shared runs that may hold entries of a list, which is an expression in SQL. */
export function sharedBytes(list: string): string {
  return `case when ${list} >= 0 then (
       select string_agg(shared.bytes, '') from discovery.run as shared
       where shared.list = ${firstSharedList} - ${list} % ${sharedLists} and shared.first <= ${list} and shared.last >= ${list}
     ) end`;
}

/** What a list holds in its own runs, and in shared ones; the own ones need not be in order. */
export function joinShared(list: number, own: KeyList, shared: Uint8Array | null): KeyList {
  const sorted = sortPostings(own);
  const keys = shared ? findKeys(shared, list) : [];
  if (keys.length === 0) return sorted;
  return mergeFew(
    sorted,
    sortPostings({ keys: Float64Array.from(keys), weights: new Uint8Array(keys.length) }),
  );
}

/** The shared entries are few beside those of a long list: what lies between them is copied as a whole. */
function mergeFew(own: KeyList, few: KeyList): KeyList {
  const length = own.keys.length + few.keys.length;
  const merged = { keys: new Float64Array(length), weights: new Uint8Array(length) };
  let from = 0;
  for (let index = 0; index <= few.keys.length; index++) {
    const key = few.keys[index];
    const end = key === undefined ? own.keys.length : lowerBound(own.keys, key, from);
    merged.keys.set(own.keys.subarray(from, end), from + index);
    merged.weights.set(own.weights.subarray(from, end), from + index);
    if (key !== undefined) {
      merged.keys[end + index] = key;
      merged.weights[end + index] = few.weights[index] as number;
    }
    from = end;
  }
  return merged;
}
