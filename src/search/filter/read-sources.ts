import { type Search, streamOnce } from '../candidates.ts';
import { selectRows } from '../lists/columns.ts';
import { type Keys, setOf, union } from '../lists/key-sets.ts';
import { type NumberList, sortByValue } from '../lists/number-list.ts';
import { emptyList } from '../lists/posting-list.ts';
import { type NumberRange, type RangePart, readLists, readOn, readRange } from '../lists/read-parts.ts';
import { readWholeLists } from '../lists/read-whole.ts';
import type { Source } from './plan.ts';

// Reads the posting lists of a filter, only as far as needed: a first look tells how many resources each part leads to, and most parts are never read further.

/** What a part of a filter leads to. */
export interface Reading {
  kind: Source['kind'];
  /** How many resources; where they are not all there, at least. */
  count: number;
  /** All of them, where the first look saw them all. */
  whole?: Keys;
  /** Those that are wanted, part by part, in an order that is the same in every search; some perhaps twice. */
  stream(wanted?: Wanted): AsyncIterable<Keys>;
}

export interface Wanted {
  isWanted(key: number): boolean;
  /** So many are enough, as a rule. */
  count: number;
}

const all: Wanted = { isWanted: () => true, count: Number.POSITIVE_INFINITY };

function select<T extends { keys: Keys }>(rows: T, { isWanted }: Wanted): T {
  return selectRows(rows, (index) => isWanted(rows.keys[index] as number));
}

/** Of a list that is too long to be read whole: a run has up to 320 keys. */
const moreRuns = 500;
/** A run has up to 120 numbers. */
const moreNumberRuns = 64;
/** So many are put in the order of their keys. */
const fewNumbers = 5_000;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;
/** Chance may have brought more of them first. */
const spare = 1.2;

/** A first look at each of these. */
export async function readSources(
  { database }: Pick<Search, 'database'>,
  sources: readonly Source[],
): Promise<Reading[]> {
  const leaves = sources.flatMap(leavesOf);
  const facts = new Set(leaves.flatMap((leaf) => (leaf.kind === 'fact' ? leaf.hash : [])));
  const lists = await readWholeLists(database, [...facts]);
  const read = async (source: Source): Promise<Reading> => {
    switch (source.kind) {
      case 'fact': {
        const whole = lists.get(source.hash);
        return whole ? allOf('fact', whole.others.keys) : readList(database, source.hash);
      }
      case 'numbers':
        return readNumbers(database, source);
      case 'any':
        return readAny(await Promise.all(source.sources.map(read)));
    }
  };
  return Promise.all(sources.map(read));
}

function leavesOf(source: Source): Exclude<Source, { kind: 'any' }>[] {
  return source.kind === 'any' ? source.sources.flatMap(leavesOf) : [source];
}

/** Part by part. */
async function readList(database: Search['database'], list: number): Promise<Reading> {
  const first = (await readLists(database, [list], moreRuns)).get(list) ?? { ...emptyList };
  return {
    kind: 'fact',
    count: first.keys.length + 1,
    async *stream(wanted = all) {
      for (let part = first, runs = moreRuns; ; runs *= growth) {
        yield select({ keys: part.keys }, wanted).keys;
        if (part.rest === undefined) return;
        part = await readOn(database, part.rest, runs);
      }
    },
  };
}

/** By value, part by part; few of them in the order of keys. How many they are decides that, not how many runs hold them: compaction must not change the order of an answer. */
async function readNumbers(database: Search['database'], range: NumberRange): Promise<Reading> {
  let first = await readRange(database, range, { maxRuns: moreNumberRuns, enoughSeen: fewNumbers });
  for (let maxRuns = moreNumberRuns; first.rest !== undefined && first.seen <= fewNumbers; ) {
    maxRuns *= growth;
    const { numbers, runs, seen, rest } = await readRange(database, range, {
      ...{ maxRuns, from: first.rest, enoughSeen: fewNumbers },
    });
    first = {
      numbers: concatenate(first.numbers, numbers),
      runs: first.runs + runs,
      seen: first.numbers.keys.length + seen,
      rest,
    };
  }
  if (first.seen <= fewNumbers) return allOf('numbers', setOf(first.numbers.keys));
  return {
    kind: 'numbers',
    count: first.seen,
    stream: (wanted) => streamNumbers(database, range, first, wanted),
  };
}

function concatenate(a: NumberList, b: NumberList): NumberList {
  return {
    keys: Float64Array.from([...a.keys, ...b.keys]),
    values: Float64Array.from([...a.values, ...b.values]),
  };
}

/** How many of those before were wanted tells how many runs have to be read for the others; where that was wrong, more and more are read. */
async function* streamNumbers(
  database: Search['database'],
  range: NumberRange,
  first: RangePart,
  wanted = all,
): AsyncGenerator<Keys> {
  let [found, runs] = [0, 0];
  for (let part = first, least = 1; ; least *= growth) {
    const selected = select(part.numbers, wanted);
    yield sortByValue(selected).keys;
    if (part.rest === undefined) return;
    found += selected.keys.length;
    runs += part.runs;
    const missing = found < wanted.count ? (wanted.count - found) / Math.max(found, 1) : 1;
    const maxRuns = Math.max(least, Math.ceil(runs * Math.min(growth, missing * spare)));
    part = await readRange(database, range, { maxRuns, from: part.rest });
  }
}

function readAny(readings: readonly Reading[]): Reading {
  const wholes = readings.flatMap(({ whole }) => whole ?? []);
  if (wholes.length === readings.length) return allOf('any', union(wholes));
  return {
    kind: 'any',
    count: Math.max(...readings.map(({ count }) => count)),
    async *stream(wanted) {
      for (const each of readings) yield* each.stream(wanted);
    },
  };
}

function allOf(kind: Source['kind'], keys: Keys): Reading {
  const stream = (wanted = all) => streamOnce(select({ keys }, wanted).keys);
  return { kind, count: keys.length, whole: keys, stream };
}

/** All of them, unless they are more than so many. */
export async function findWhole(reading: Reading, atMost: number): Promise<Keys | undefined> {
  if (reading.whole) return reading.whole;
  const parts: Keys[] = [];
  let count = 0;
  for await (const keys of reading.stream()) {
    parts.push(keys);
    count += keys.length;
    if (count > atMost) return undefined;
  }
  // Numbers come in the order of their values.
  return union(parts.map(setOf));
}
