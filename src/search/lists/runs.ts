import { bigintArray, bytesArray, doubleArray, smallintArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import { maxRunNumbers, readNumberRuns, sortByValue, toNumberRuns } from './number-list.ts';
import { maxRunKeys, type Run, readRuns, sortPostings, toRuns } from './posting-list.ts';
import { firstSharedList, type ListEntries, shareRuns } from './shared-runs.ts';

export type { ListEntries } from './shared-runs.ts';

// The table of posting lists (discovery.run), a row for each run. Which list a fact, a number or a word has is a number. What is added becomes runs of its own, so that writers never wait for
// each other; a removal rewrites runs (remove.ts); small runs are merged in the background (compact.ts).

// The list of a fact has the hash of the fact, 0 or above; below are the others.
export const everyResource = -1;

/** Where a word stands in resources, and in what is said of catalogs and providers, whose resources share it. */
export function wordList(wordId: number): number {
  return -2 * wordId;
}

/** Where a word stands in offers, whose resources are known only at query time. */
export function offerList(wordId: number): number {
  return -2 * wordId - 1;
}

/** Where a word stands in standing offers: their keys lead to the head of their catalog, whose resources they apply to at any time. */
export function standingList(wordId: number): number {
  return firstStandingList - wordId;
}

/** Words have numbers of 31 bits. */
const firstStandingList = -(2 ** 33);

/** The heads of catalogs that have siblings (write/siblings.ts). */
export const siblingList = -(2 ** 51);

/** The heads of catalogs some of whose offers may apply to resources of other catalogs, as they name them or a provider (write/reach.ts). */
export const abroadList = siblingList + 1;

/** The heads of catalogs with wide offers that are not standing ones: where they have siblings, these apply to resources of those, too. */
export const wideList = siblingList + 2;

/** The numbers of a path, which is given by its hash of 53 bits. */
export function numberList(path: number): number {
  return -(2 ** 52) - Math.floor(path / 2);
}

/** Whether it holds numbers, in the order of their values; those in a shared list are numbers of lists. */
export function isOfNumbers(list: number): boolean {
  return list <= firstSharedList;
}

/** How many keys a run of the list has at most. */
export function maxRunLength(list: number): number {
  return isOfNumbers(list) ? maxRunNumbers : maxRunKeys;
}

interface ListRun extends Run {
  list: number;
}

export interface StoredRun extends ListRun {
  id: number;
}

/** The columns of the primary key. */
export type RunKey = Pick<StoredRun, 'list' | 'first' | 'last' | 'id'>;

/** `sharesRuns`: where many lists get few entries each, these may stand in shared runs. */
export async function addToLists(
  tx: Transaction,
  lists: Iterable<ListEntries>,
  { sharesRuns = false } = {},
): Promise<void> {
  const all = Array.from(lists);
  await insertRuns(tx, (sharesRuns ? shareRuns(all) : all).flatMap(runsOf));
  await noteChanged(tx, all);
}

/** Writes to the change feed that these lists have changed, so that processes invalidate them (cache/invalidation.ts). */
export async function noteChanged(
  tx: Transaction,
  lists: readonly Pick<ListEntries, 'list'>[],
): Promise<void> {
  if (lists.length === 0) return;
  const isNamed = lists.length <= maxNamed;
  await tx.query('insert into discovery.change (lists, everything) values ($1::bigint[], $2)', [
    bigintArray(isNamed ? lists.map(({ list }) => list) : []),
    !isNamed,
  ]);
}

const maxNamed = 5_000;

/** As few runs as can be; the entries need not be in order. */
export function runsOf({ list, keys, marks }: ListEntries): ListRun[] {
  const [key, mark = 0] = [keys[0], marks[0]];
  // Most lists get one key of a transaction.
  if (keys.length === 1 && key !== undefined && !isOfNumbers(list))
    return [{ list, first: key, last: key, count: 1, weight: mark, bytes: null }];
  const column = Float64Array.from(keys);
  const runs = isOfNumbers(list)
    ? toNumberRuns(sortByValue({ keys: column, values: Float64Array.from(marks) }))
    : toRuns(sortPostings({ keys: column, weights: Uint8Array.from(marks) }));
  return runs.map(({ first, last, count, weight, bytes }) => ({ list, first, last, count, weight, bytes }));
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

/** Those of the keys that a list has. */
export async function findInList(
  queryable: Queryable,
  list: number,
  keys: readonly number[],
): Promise<Set<number>> {
  const { rows } = await queryable.query<StoredRun>(
    `select distinct run.* from unnest($2::bigint[]) as wanted (key)
     join discovery.run on list = $1 and first <= wanted.key and last >= wanted.key`,
    [list, bigintArray(keys)],
  );
  const held = new Set(entriesOf(list, rows).keys);
  return new Set(keys.filter((key) => held.has(key)));
}

/** Selects the keys of runs that are given as arrays. */
export const unnestedRunKeys = 'select * from unnest($1::bigint[], $2::float8[], $3::float8[], $4::bigint[])';

export function runKeyArrays(runs: readonly RunKey[]): Buffer[] {
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
