import type { ListEntries } from './runs.ts';

// The entries that a transaction is going to remove from posting lists. An entry that goes is named with its mark: the same key may come into the list with another one.

/** As many, at least, are taken out together. */
const entriesAtOnce = 10_000;

/** By list and name. */
export type PendingRemovals = Map<number, Map<string, Entry>>;

export interface Entry {
  key: number;
  mark: number;
}

/** Returns how many are new. */
export function addPending(pending: PendingRemovals, lists: Iterable<ListEntries>): number {
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

export function entryName({ key, mark }: Entry): string {
  return `${mark} ${key}`;
}

/** Returns those that were not pending. */
export function cancelEntries(pending: PendingRemovals, entries: ListEntries): ListEntries {
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
export function* inSlices(pending: PendingRemovals): Generator<PendingRemovals> {
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

export interface ListedEntry extends Entry {
  list: number;
}

export function copyOf(entries: PendingRemovals): PendingRemovals {
  return new Map(Array.from(entries, ([list, ofList]) => [list, new Map(ofList)]));
}

export function forget(left: PendingRemovals, held: readonly ListedEntry[]): void {
  for (const { list, ...entry } of held) {
    const entries = left.get(list);
    entries?.delete(entryName(entry));
    if (entries?.size === 0) left.delete(list);
  }
}
