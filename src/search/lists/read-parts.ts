import { bigintArray, doubleArray } from '../../storage/binary-arrays.ts';
import type { IndexReader } from '../cache/caches.ts';
import { selectRows } from './columns.ts';
import { type NumberList, readNumberRuns } from './number-list.ts';
import { emptyList, type KeyList, type ListRest, lowerBound, readRuns, runBytes } from './posting-list.ts';
import { numberList } from './runs.ts';
import { joinShared, sharedBytes } from './shared-runs.ts';

// Reads posting lists that are too long to be cached: from the beginning, part by part, or only a range. Compaction may come between two parts. So a part begins at a key or a value, not at
// a run.

/** Part of a list, in order. */
export interface ListPart extends KeyList {
  /** Where the next part begins; undefined when this is the last one. */
  rest?: ListRest;
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
  /** How many numbers of the range are in these runs, those of the rest included. */
  seen: number;
  /** The lowest value of the next part; undefined when this is the last one. */
  rest: number | undefined;
}

interface RangeOptions {
  maxRuns: number;
  from?: number;
  /** A first look that has seen more than so many numbers does not read on to the end of a value that very many runs have; the part is then empty. */
  enoughSeen?: number;
}

export async function readRange(
  reader: IndexReader,
  range: NumberRange,
  { maxRuns, from = range.low?.value ?? Number.NEGATIVE_INFINITY, enoughSeen = Infinity }: RangeOptions,
): Promise<RangePart> {
  const { path, low, high } = range;
  const isPastFrom = low?.value === from && !low.inclusive;
  const upTo = high?.value ?? Number.POSITIVE_INFINITY;
  const { rows } = await reader.query<{ bytes: Buffer | null }>(
    `select string_agg(bytes, '') as bytes from (
       select bytes from discovery.run where list = $1 and last ${isPastFrom ? '>' : '>='} $2 and first <= $3
       order by first limit $4
     ) as runs`,
    [numberList(path), from, upTo, maxRuns + 1],
    { prepared: true },
  );
  const { list, firsts } = readNumberRuns(rows[0]?.bytes ?? Buffer.of());
  const numbers = selectBetween(list, range, from);
  const seen = numbers.keys.length;
  const rest = firsts[maxRuns];
  if (rest === undefined) return { numbers, runs: firsts.length, seen, rest };
  if (rest > from) return { numbers: selectBelow(numbers, rest), runs: firsts.length, seen, rest };
  if (seen > enoughSeen) return { numbers: selectBelow(numbers, from), runs: 0, seen, rest: from };
  const ofValue = numbers.values.filter((value) => value === from).length;
  if (ofValue > seen / 2) return readValue(reader, range, from);
  // So many runs overlap here: compaction has not come to them yet.
  return readRange(reader, range, { maxRuns: maxRuns * growth, from, enoughSeen });
}

/** Of a value that very many runs have: all its numbers at once. */
async function readValue(reader: IndexReader, range: NumberRange, value: number): Promise<RangePart> {
  const { path, high } = range;
  const { rows } = await reader.query<{ bytes: Buffer | null; next: number | null }>(
    `select string_agg(bytes, '') as bytes,
       (select min(first) from discovery.run where list = $1 and first > $2 and first <= $3)::float8 as next
     from discovery.run where list = $1 and last >= $2 and first <= $2`,
    [numberList(path), value, high?.value ?? Number.POSITIVE_INFINITY],
    { prepared: true },
  );
  const { list, firsts } = readNumberRuns(rows[0]?.bytes ?? Buffer.of());
  const { values, keys } = selectBetween(list, range, value);
  const next = values.reduce(
    (least, each) => (each > value && each < least ? each : least),
    rows[0]?.next ?? Infinity,
  );
  const rest = next === Infinity ? undefined : next;
  return { numbers: selectBelow({ values, keys }, next), runs: firsts.length, seen: keys.length, rest };
}

/** Those of the range from a value on. */
function selectBetween(list: NumberList, { low, high }: NumberRange, from: number): NumberList {
  const { values } = list;
  const isPastFrom = low?.value === from && !low.inclusive;
  const upTo = high?.value ?? Number.POSITIVE_INFINITY;
  return selectRows(list, (index) => {
    const value = values[index] as number;
    return (
      (isPastFrom ? value > from : value >= from) &&
      (high?.inclusive === false ? value < upTo : value <= upTo)
    );
  });
}

function selectBelow(list: NumberList, end: number): NumberList {
  return selectRows(list, (index) => (list.values[index] as number) < end);
}
