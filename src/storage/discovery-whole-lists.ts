import { bigintArray, textArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import { isHead } from './discovery-keys.ts';
import { emptyList, inOrder, type KeyList, readRuns, runBytes } from './key-list.ts';
import { findKept, type KeptList, keepList, noteRuns } from './list-memory.ts';
import { type NumberList, noNumbers, readNumberRuns } from './number-list.ts';

// Whole lists, as most searches want them. A process keeps those that it read: a search asks whether they still have the same runs, and reads
// only those that have not. What was committed before the question is always in the answer.

/** A list of keys, divided: catalogs' own keys, which stand for all their resources, and all others. */
export interface WholeList {
  heads: KeyList;
  others: KeyList;
}

export const emptyWhole: WholeList = { heads: emptyList, others: emptyList };

/** Longer lists are read in parts (discovery-list-reader.ts). */
const maxRuns = 4_000;
const maxNumberRuns = 12_000;

/** Lists by their numbers; those that are too long are left out. */
export function readWholeLists(
  queryable: Queryable,
  lists: readonly number[],
): Promise<Map<number, WholeList>> {
  return readWhole(queryable, lists, {
    bytes: runBytes,
    maxRuns,
    empty: emptyWhole,
    decode(bytes) {
      const { list, starts } = readRuns(bytes);
      return { list: divided(inOrder(list)), runs: starts.length, keys: list.keys.length };
    },
    bytesOfKey: 9,
  });
}

/** Likewise lists of numbers. */
export function readWholeNumbers(
  queryable: Queryable,
  lists: readonly number[],
): Promise<Map<number, NumberList>> {
  return readWhole(queryable, lists, {
    bytes: 'bytes',
    maxRuns: maxNumberRuns,
    empty: noNumbers,
    decode(bytes) {
      const { list, firsts } = readNumberRuns(bytes);
      return { list, runs: firsts.length, keys: list.keys.length };
    },
    bytesOfKey: 16,
  });
}

export function divided(list: KeyList): WholeList {
  const isOfHead = Array.from(list.keys, isHead);
  if (!isOfHead.includes(true)) return { heads: emptyList, others: list };
  const part = (ofHeads: boolean): KeyList => ({
    keys: list.keys.filter((_, index) => isOfHead[index] === ofHeads),
    weights: list.weights.filter((_, index) => isOfHead[index] === ofHeads),
  });
  return { heads: part(true), others: part(false) };
}

interface Form<T> {
  /** The bytes of a run, in SQL. */
  bytes: string;
  maxRuns: number;
  empty: T;
  decode(bytes: Buffer): { list: T; runs: number; keys: number };
  bytesOfKey: number;
}

/** One statement sees the runs and, where they are others than before, reads them. */
async function readWhole<T>(
  queryable: Queryable,
  lists: readonly number[],
  form: Form<T>,
): Promise<Map<number, T>> {
  if (lists.length === 0) return new Map();
  const kept = lists.map((list) => findKept<T>(queryable, list));
  const { rows } = await queryable.query<WholeRow>(
    `select wanted.list, version, case when version is distinct from wanted.known and runs <= $3 then (
       select string_agg(bytes, '') from (
         select ${form.bytes} as bytes from discovery.run where run.list = wanted.list order by first, last, id
       ) as read
     ) end as bytes, runs
     from unnest($1::bigint[], $2::text[]) as wanted (list, known)
     cross join lateral (
       select md5(string_agg(int8send(id), '')) as version, count(*) as runs
       from (select id from discovery.run where run.list = wanted.list order by first, last, id limit $3 + 1) as seen
     ) as now`,
    [bigintArray(lists), textArray(kept.map((each) => each?.version ?? null)), form.maxRuns],
    { prepared: true },
  );
  const found = new Map<number, T>();
  const keptOf = new Map(lists.map((list, index) => [list, kept[index]]));
  for (const row of rows) {
    const list = wholeOf(queryable, row, keptOf.get(row.list), form);
    if (list !== undefined) found.set(row.list, list);
  }
  return found;
}

interface WholeRow {
  list: number;
  /** Null where there are no runs. */
  version: string | null;
  runs: number;
  /** Null where it is known already, or too long. */
  bytes: Buffer | null;
}

function wholeOf<T>(
  queryable: Queryable,
  { list, version, runs, bytes }: WholeRow,
  kept: KeptList<T> | undefined,
  form: Form<T>,
): T | undefined {
  if (version === null) return form.empty;
  if (kept?.version === version) return kept.list;
  if (runs > form.maxRuns || bytes === null) return undefined;
  const decoded = form.decode(bytes);
  noteRuns(queryable, list, decoded.runs, decoded.keys);
  keepList(queryable, list, { version, list: decoded.list }, decoded.keys * form.bytesOfKey);
  return decoded.list;
}
