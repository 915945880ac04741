import { bigintArray, bytesArray, doubleArray, smallintArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { DirectoryEntry } from '../cache/caches.ts';
import { decodeRun, encodeRun, sortRun } from './codec.ts';
import {
  findSharedList,
  firstSharedList,
  isShared,
  markBytesOf,
  maxRunLength,
  sharedLists,
} from './list-numbers.ts';

// The table of lists, a row for each run. What is added becomes new runs, so that writers never wait for each other; a removal rewrites runs (remove.ts); small runs are merged in the background
// (compact.ts). A run is never changed, and its number never given again.
//
// Shared runs. Most facts of a document are its own: ids, serial numbers. A row for each such list takes 150 bytes. So where a transaction adds few entries each to many lists of facts, these
// stand together in shared lists. A list is what stands in its own runs and in the shared ones.

/** Entries on their way into a list, or out of it, in any order. */
export interface ListEntries {
  list: number;
  keys: number[];
  marks: number[];
}

/** One of them. */
export interface Entry {
  list: number;
  key: number;
  mark: number;
}

export function* listed(lists: Iterable<ListEntries>): Generator<Entry> {
  for (const { list, keys, marks } of lists)
    for (const [index, key] of keys.entries()) yield { list, key, mark: marks[index] ?? 0 };
}

/** The columns of the primary key. */
export type RunKey = Pick<DirectoryEntry, 'list' | 'first' | 'last' | 'id'>;

export interface StoredRun extends DirectoryEntry {
  /** All of it; null for a run of one entry. */
  bytes: Uint8Array | null;
}

/** Adds entries, and notes which lists have changed, for the caches of all processes. */
export async function addToLists(
  tx: Transaction,
  index: string,
  lists: Iterable<ListEntries>,
): Promise<void> {
  const all = [...lists];
  await insertRuns(tx, index, shareRuns(all).flatMap(runsOf));
  await noteChanged(
    tx,
    all.map(({ list }) => list),
  );
}

/** Lists of a row of the change feed; more are noted as everything. */
const maxNamed = 5_000;

export async function noteChanged(tx: Transaction, lists: readonly number[]): Promise<void> {
  if (lists.length === 0) return;
  const isNamed = lists.length <= maxNamed;
  await tx.query('insert into discovery.change (lists, everything) values ($1::bigint[], $2)', [
    bigintArray(isNamed ? lists : []),
    !isNamed,
  ]);
}

type NewRun = Omit<StoredRun, 'id'>;

/** As few runs as can be. */
export function runsOf({ list, keys, marks }: ListEntries): NewRun[] {
  const [key, mark = 0] = [keys[0], marks[0]];
  // Most lists get one entry of a transaction.
  if (keys.length === 1 && key !== undefined)
    return [{ list, first: key, last: key, count: 1, mark, bytes: null }];
  const markBytes = markBytesOf(list);
  const all = sortRun({
    keys: Float64Array.from(keys),
    marks: markBytes === 8 ? Float64Array.from(marks) : Uint8Array.from(marks),
  });
  const runs: NewRun[] = [];
  const length = maxRunLength(list);
  for (let start = 0; start < keys.length; start += length) {
    const run = {
      keys: all.keys.subarray(start, start + length),
      marks: all.marks.subarray(start, start + length),
    };
    const [first = 0, last = 0, count] = [run.keys[0], run.keys.at(-1), run.keys.length];
    const isOne = count === 1;
    const bytes = isOne ? null : encodeRun(run, markBytes);
    runs.push({ list, first, last, count, mark: isOne ? (run.marks[0] ?? 0) : 0, bytes });
  }
  return runs;
}

/** All entries of some runs of one list. */
export function entriesOf(
  list: number,
  runs: readonly Pick<StoredRun, 'first' | 'mark' | 'bytes'>[],
): ListEntries {
  const entries: ListEntries = { list, keys: [], marks: [] };
  for (const { first, mark, bytes } of runs) {
    const { keys, marks } = bytes === null ? { keys: [first], marks: [mark] } : decodeRun(bytes);
    for (const key of keys) entries.keys.push(key);
    for (const each of marks) entries.marks.push(each);
  }
  return entries;
}

/** The same, each in the list that it belongs to. */
export function* storedEntries(entries: ListEntries): Generator<Entry> {
  for (const entry of listed([entries]))
    yield isShared(entry.list) ? { list: entry.key, key: entry.mark, mark: 0 } : entry;
}

/** Runs that are read at a time. */
const readAtOnce = 5_000;

/** The runs of all lists that may hold a key of a range: shared ones are in the order of the lists whose entries they hold. */
export async function* readRange(
  queryable: Queryable,
  index: string,
  { from, end }: { from: number; end: number },
): AsyncGenerator<StoredRun> {
  for (let after: RunKey | undefined; ; ) {
    const { rows }: { rows: StoredRun[] } = await queryable.query<StoredRun>(
      `select * from ${index}.run
       where ($3::bigint is null or (list, first, last, id) > ($3, $4::float8, $5::float8, $6::bigint))
         and ((list <= ${firstSharedList} and list > ${firstSharedList - sharedLists}) or (first < $2 and last >= $1))
       order by list, first, last, id limit $7`,
      [from, end, after?.list ?? null, after?.first ?? 0, after?.last ?? 0, after?.id ?? 0, readAtOnce],
    );
    yield* rows;
    after = rows.at(-1);
    if (rows.length < readAtOnce) return;
  }
}

/** Deletes runs, and returns those that were there, by number. */
export async function takeRuns(
  tx: Transaction,
  index: string,
  runs: readonly RunKey[],
  columns: 'id' | '*',
  lock: string,
): Promise<Map<number, StoredRun>> {
  const { rows } = await tx.query<StoredRun>(
    `delete from ${index}.run where ctid = any (array(
       select ctid from ${index}.run
       where (list, first, last, id) in (select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[])) ${lock}
     )) returning ${columns}`,
    runKeyArrays(runs),
  );
  return new Map(rows.map((run) => [run.id, run]));
}

export function runKeyArrays(runs: readonly RunKey[]): Buffer[] {
  return [...spanArrays(runs), bigintArray(runs.map(({ id }) => id))];
}

export async function insertRuns(tx: Transaction, index: string, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const sorted = [...runs].sort((a, b) => a.list - b.list || a.first - b.first);
  await tx.query(
    `insert into ${index}.run (list, first, last, count, mark, bytes)
     select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::smallint[], $5::float8[], $6::bytea[])`,
    [
      ...spanArrays(sorted),
      smallintArray(sorted.map(({ count }) => count)),
      doubleArray(sorted.map(({ mark }) => mark)),
      bytesArray(sorted.map(({ bytes }) => bytes)),
    ],
  );
}

function spanArrays(runs: readonly Omit<RunKey, 'id'>[]): Buffer[] {
  return [
    bigintArray(runs.map(({ list }) => list)),
    doubleArray(runs.map(({ first }) => first)),
    doubleArray(runs.map(({ last }) => last)),
  ];
}

/** Lists that get few entries, for shared runs to pay; fewer would not fill them. */
const minShared = 8 * sharedLists;
/** Entries of a list: more take less room in a run of its own. */
const maxOfList = 4;
/** Entries of a list in a shared one, from which on it gets a run of its own. */
const minOfOwn = 32;

/** Puts entries of lists that get few of them into shared lists, if there are many such lists. */
function shareRuns(lists: readonly ListEntries[]): readonly ListEntries[] {
  const isShareable = ({ list, keys }: ListEntries) => list >= 0 && keys.length <= maxOfList;
  if (lists.filter(isShareable).length < minShared) return lists;
  const shared = new Map<number, ListEntries>();
  const others: ListEntries[] = [];
  for (const entries of lists) {
    const list = isShareable(entries) ? findSharedList(entries.list) : undefined;
    if (list === undefined) {
      others.push(entries);
      continue;
    }
    const into = shared.get(list) ?? { list, keys: [], marks: [] };
    shared.set(list, into);
    for (const key of entries.keys) {
      into.keys.push(entries.list);
      into.marks.push(key);
    }
  }
  return [...others, ...shared.values()];
}

/** What compaction makes of entries: a list that has got many in a shared one, transaction by transaction, gets runs of its own. */
export function separateLong(entries: ListEntries): ListEntries[] {
  if (!isShared(entries.list)) return [entries];
  const counts = new Map<number, number>();
  for (const list of entries.keys) counts.set(list, (counts.get(list) ?? 0) + 1);
  const own = new Map<number, ListEntries>();
  const rest: ListEntries = { list: entries.list, keys: [], marks: [] };
  for (const [index, list] of entries.keys.entries()) {
    const key = entries.marks[index] as number;
    const isLong = (counts.get(list) ?? 0) >= minOfOwn;
    const into = isLong ? (own.get(list) ?? { list, keys: [], marks: [] }) : rest;
    if (isLong) own.set(list, into);
    into.keys.push(isLong ? key : list);
    into.marks.push(isLong ? 0 : key);
  }
  return [rest, ...own.values()].filter(({ keys }) => keys.length > 0);
}

/** Items one after the other, so many in a slice that their sizes reach a limit. */
export function* inSlices<T>(items: Iterable<T>, sizeOf: (item: T) => number, limit: number): Generator<T[]> {
  let slice: T[] = [];
  let size = 0;
  for (const item of items) {
    slice.push(item);
    size += sizeOf(item);
    if (size < limit) continue;
    yield slice;
    [slice, size] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}
