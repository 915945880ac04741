import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { selectRows } from './columns.ts';
import { type NumberList, readNumberRuns } from './number-list.ts';
import { emptyList, type KeyList, lowerBound, readRuns, runBytes } from './posting-list.ts';
import { numberList } from './runs.ts';
import { joinShared, sharedBytes } from './shared-runs.ts';

// Reads posting lists that are too long to be cached: from the beginning, part by part, or only a range. Compaction may come between two parts. So a part begins at a key or a value, not at
// a run.

/** Part of a list, in order. */
export interface ListPart extends KeyList {
  /** Where the next part begins; undefined when this is the last one. */
  rest?: ListRest;
}

export interface ListRest {
  list: number;
  /** The lowest key of the next part. */
  from: number;
}

/** The beginnings of lists, by their numbers: at most so many runs of each. */
export function readLists(
  reader: IndexReader,
  lists: readonly number[],
  maxRuns: number,
): Promise<Map<number, ListPart>> {
  return readParts(
    reader,
    lists.map((list) => ({ list, from: 0 })),
    { maxRuns },
  );
}

/** What follows of a list. */
export async function readOn(reader: IndexReader, rest: ListRest, maxRuns: number): Promise<ListPart> {
  for (let limit = maxRuns; ; limit *= growth) {
    const part: ListPart = (await readParts(reader, [rest], { maxRuns: limit })).get(rest.list) ?? emptyList;
    // So many runs begin before this part that none of those that begin in it was read.
    if (part.rest && part.rest.from <= rest.from) continue;
    return part;
  }
}

const growth = 4;

/** What lists hold from one key up to another, by their numbers. */
export function readRanges(
  reader: IndexReader,
  lists: readonly number[],
  { from, upTo }: KeyRange,
): Promise<Map<number, KeyList>> {
  return readParts(
    reader,
    lists.map((list) => ({ list, from })),
    { upTo },
  );
}

export interface KeyRange {
  from: number;
  upTo: number;
}

interface PartLimits {
  /** As many as there are, if undefined. */
  maxRuns?: number;
  /** The last key. */
  upTo?: number;
}

async function readParts(
  reader: IndexReader,
  rests: readonly ListRest[],
  limits: PartLimits,
): Promise<Map<number, ListPart>> {
  if (rests.length === 0) return new Map();
  const { maxRuns = Number.MAX_SAFE_INTEGER - 1, upTo = Number.POSITIVE_INFINITY } = limits;
  const { rows } = await reader.query<ListRest & RunBytes>(
    `select wanted.list, wanted.start as "from", (
       select coalesce(string_agg(bytes, ''), '') from (
         select ${runBytes} as bytes from discovery.run
         where run.list = wanted.list and run.last >= wanted.start and run.first <= $3 order by first limit $4
       ) as runs
     ) as bytes, ${sharedBytes('wanted.list')} as shared
     from unnest($1::bigint[], $2::float8[]) as wanted (list, start)`,
    [
      bigintArray(rests.map(({ list }) => list)),
      doubleArray(rests.map(({ from }) => from)),
      upTo,
      maxRuns + 1,
    ],
    { prepared: true },
  );
  return new Map(
    rows.map(({ bytes, shared, ...rest }) => [rest.list, partOf(rest, { bytes, shared }, { maxRuns, upTo })]),
  );
}

interface RunBytes {
  /** Of runs of the list's own. */
  bytes: Buffer;
  shared: Buffer | null;
}

/** Up to the first key of the run that was read one too many: it, and any later one, holds nothing before that. */
function partOf(
  { list, from }: ListRest,
  { bytes, shared }: RunBytes,
  { maxRuns, upTo }: Required<PartLimits>,
): ListPart {
  const { list: found, starts } = readRuns(bytes);
  const end = starts[maxRuns];
  const all = joinShared(list, found, shared);
  if (end === undefined) return sliceBetween(all, from, upTo + 1);
  const next = found.keys[end] as number;
  return { ...sliceBetween(all, from, next), rest: { list, from: next } };
}

/** The keys from one, and below another. */
export function sliceBetween(list: KeyList, from: number, end: number): KeyList {
  const { keys, weights } = list;
  const start = lowerBound(keys, from);
  const stop = lowerBound(keys, end);
  return { keys: keys.subarray(start, stop), weights: weights.subarray(start, stop) };
}

export interface NumberRange {
  /** Hash of the path. */
  path: number;
  low?: Bound;
  high?: Bound;
}

export interface Bound {
  value: number;
  inclusive: boolean;
}

/** The next numbers of a range: all that are lower than the rest, run by run. Who wants few of them sorts only those. */
export interface RangePart {
  numbers: NumberList;
  /** How many were read. */
  runs: number;
  /** The lowest value of the next part; undefined when this is the last one. */
  rest: number | undefined;
}

export async function readRange(
  reader: IndexReader,
  { path, low, high }: NumberRange,
  { maxRuns, from = low?.value ?? Number.NEGATIVE_INFINITY }: { maxRuns: number; from?: number },
): Promise<RangePart> {
  const upTo = high?.value ?? Number.POSITIVE_INFINITY;
  for (let limit = maxRuns; ; limit *= growth) {
    const { rows } = await reader.query<{ bytes: Buffer | null }>(
      `select string_agg(bytes, '') as bytes from (
         select bytes from discovery.run where list = $1 and last >= $2 and first <= $3 order by first limit $4
       ) as runs`,
      [numberList(path), from, upTo, limit + 1],
      { prepared: true },
    );
    const { list, firsts } = readNumberRuns(rows[0]?.bytes ?? Buffer.of());
    const rest = firsts[limit];
    // So many runs have this one value.
    if (rest !== undefined && rest <= from) continue;
    const { values } = list;
    const skipsFrom = low?.value === from && !low.inclusive;
    const end = rest ?? upTo;
    const skipsEnd = rest !== undefined || high?.inclusive === false;
    const numbers = selectRows(list, (index) => {
      const value = values[index] as number;
      return (skipsFrom ? value > from : value >= from) && (skipsEnd ? value < end : value <= end);
    });
    return { numbers, runs: firsts.length, rest };
  }
}
