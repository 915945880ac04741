import { bigintArray, bytesArray, doubleArray, smallintArray } from './binary-arrays.ts';
import type { Transaction } from './database.ts';
import { inOrder, maxRunKeys, type Run, readRuns, singleRun, toRuns } from './key-list.ts';
import { byValue, maxRunNumbers, readNumberRuns, toNumberRuns } from './number-list.ts';

// The lists of the index: which resources have a fact, a number or a word. All of them stand in runs in one table (discovery.run). What is
// added becomes runs of its own, so that writers never wait for each other; discovery-list-merger.ts puts small ones together by and by.

// Facts are hashes, 0 or above; below are the others.
export const everyResource = -1;

export function factList(hash: number): number {
  return hash;
}

/** Where a word stands in resources, and in what is said of catalogs and providers, whose resources share it. */
export function wordList(wordId: number): number {
  return -2 * wordId;
}

/** Where a word stands in offers, whose resources are known only at query time. */
export function offerList(wordId: number): number {
  return -2 * wordId - 1;
}

/** The numbers of a path, which is given by its hash of 53 bits. */
export function numberList(path: number): number {
  return firstNumberList - Math.floor(path / 2);
}

const firstNumberList = -(2 ** 52);

function isOfNumbers(list: number): boolean {
  return list <= firstNumberList;
}

/** How many keys a run of the list has at most. */
export function maxRunLength(list: number): number {
  return isOfNumbers(list) ? maxRunNumbers : maxRunKeys;
}

/** Keys that are on their way into a list, or out of it. */
export interface ListEntries {
  list: number;
  keys: number[];
  /** What stands beside each key: how much a word counts there, in a list of numbers the value; otherwise 0. */
  marks: number[];
}

export interface ListRun extends Run {
  list: number;
}

export interface StoredRun extends ListRun {
  id: number;
}

/** The columns of the primary key. */
export type RunPlace = Pick<StoredRun, 'list' | 'first' | 'last' | 'id'>;

export async function addToLists(tx: Transaction, lists: Iterable<ListEntries>): Promise<void> {
  await insertRuns(tx, Array.from(lists).flatMap(runsOf));
}

/** As few runs as can be; the entries need not be in order. */
export function runsOf({ list, keys, marks }: ListEntries): ListRun[] {
  const runs = () => {
    if (isOfNumbers(list))
      return toNumberRuns(byValue({ keys: Float64Array.from(keys), values: Float64Array.from(marks) }));
    // Most lists get one key: what nobody else has.
    if (keys.length === 1) return [singleRun(keys[0] as number, marks[0] as number)];
    return toRuns(inOrder({ keys: Float64Array.from(keys), weights: Uint8Array.from(marks) }));
  };
  return runs().map((run) => ({ list, ...run }));
}

/** All entries of some runs of one list. */
export function entriesOf(list: number, runs: readonly Run[]): ListEntries {
  const entries: ListEntries = { list, keys: [], marks: [] };
  for (const { first, weight, bytes } of runs) {
    if (bytes === null) {
      entries.keys.push(first);
      entries.marks.push(weight);
    } else if (isOfNumbers(list)) {
      const read = readNumberRuns(bytes).list;
      entries.keys.push(...read.keys);
      entries.marks.push(...read.values);
    } else {
      const read = readRuns(bytes).list;
      entries.keys.push(...read.keys);
      entries.marks.push(...read.weights);
    }
  }
  return entries;
}

/** Takes keys out of lists: their runs are written again without them. Of words the keys alone count, of numbers the values as well. */
export async function removeFromLists(tx: Transaction, lists: Iterable<ListEntries>): Promise<void> {
  const left = goneByList(lists);
  // A run that was written anew while its lock was waited for has gone: what it held is looked for again, where it is now.
  for (let attempt = 1; left.size > 0; attempt++) {
    if (attempt > maxAttempts)
      throw new Error('the lists of the index change too often to take keys out of them');
    const { runs, vanished } = await lockRuns(tx, left);
    const changed = runs.flatMap((run) => {
      const kept = without(entriesOf(run.list, [run]), left.get(run.list));
      return kept.keys.length < run.count ? [{ run, kept }] : [];
    });
    await deleteRuns(
      tx,
      changed.map(({ run }) => run),
    );
    await insertRuns(
      tx,
      changed.flatMap(({ kept }) => runsOf(kept)),
    );
    if (vanished === 0) return;
  }
}

const maxAttempts = 50;

/** What shall go out of lists: by list and entry. */
type Gone = Map<number, Map<string, Entry>>;

interface Entry {
  key: number;
  mark: number;
}

function goneByList(lists: Iterable<ListEntries>): Gone {
  const gone: Gone = new Map();
  for (const { list, keys, marks } of lists) {
    const entries = gone.get(list) ?? new Map<string, Entry>();
    for (const [index, key] of keys.entries()) {
      const entry = { key, mark: marks[index] ?? 0 };
      entries.set(entryName(list, entry), entry);
    }
    if (entries.size > 0) gone.set(list, entries);
  }
  return gone;
}

function entryName(list: number, { key, mark }: Entry): string {
  return isOfNumbers(list) ? `${mark} ${key}` : String(key);
}

/** What is left of a run; what was found in it is gone from the given ones, too. */
function without({ list, keys, marks }: ListEntries, gone: Map<string, Entry> | undefined): ListEntries {
  const kept: ListEntries = { list, keys: [], marks: [] };
  for (const [index, key] of keys.entries()) {
    const mark = marks[index] ?? 0;
    if (gone?.delete(entryName(list, { key, mark }))) continue;
    kept.keys.push(key);
    kept.marks.push(mark);
  }
  return kept;
}

/** The runs that may hold the entries, and how many of them have vanished before they could be locked. */
async function lockRuns(tx: Transaction, gone: Gone): Promise<{ runs: StoredRun[]; vanished: number }> {
  const places = [...gone].flatMap(([list, entries]) =>
    Array.from(entries.values(), ({ key, mark }) => ({ list, place: isOfNumbers(list) ? mark : key })),
  );
  const { rows: seen } = await tx.query<RunPlace>(
    `select distinct run.list, run.first, run.last, run.id
     from unnest($1::bigint[], $2::float8[]) as wanted (list, place)
     join discovery.run on run.list = wanted.list and run.first <= wanted.place and run.last >= wanted.place`,
    [bigintArray(places.map(({ list }) => list)), doubleArray(places.map(({ place }) => place))],
  );
  const { rows: runs } = await tx.query<StoredRun>(
    `select * from discovery.run where (list, first, last, id) in (${unnestedPlaces}) order by list, first, id for update`,
    placeArrays(seen),
  );
  return { runs, vanished: seen.length - runs.length };
}

export async function deleteRuns(tx: Transaction, runs: readonly StoredRun[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.query(
    `delete from discovery.run where (list, first, last, id) in (${unnestedPlaces})`,
    placeArrays(runs),
  );
}

/** Selects the places that are given as arrays. */
export const unnestedPlaces = 'select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[])';

export function placeArrays(runs: readonly RunPlace[]): Buffer[] {
  return [...spanArrays(runs), bigintArray(runs.map(({ id }) => id))];
}

export async function insertRuns(tx: Transaction, runs: readonly ListRun[]): Promise<void> {
  if (runs.length === 0) return;
  const sorted = [...runs].sort((a, b) => a.list - b.list || a.first - b.first);
  await tx.query(
    `insert into discovery.run (list, first, last, count, weight, bytes)
     select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::smallint[], $5::smallint[], $6::bytea[])`,
    [
      ...spanArrays(sorted),
      smallintArray(sorted.map(({ count }) => count)),
      smallintArray(sorted.map(({ weight }) => weight)),
      bytesArray(sorted.map(({ bytes }) => bytes)),
    ],
  );
}

function spanArrays(runs: readonly Pick<ListRun, 'list' | 'first' | 'last'>[]): Buffer[] {
  return [
    bigintArray(runs.map(({ list }) => list)),
    doubleArray(runs.map(({ first }) => first)),
    doubleArray(runs.map(({ last }) => last)),
  ];
}
