import { type Search, streamOnce } from '../candidates.ts';
import { type Keys, setOf, union } from '../lists/key-sets.ts';
import { emptyList } from '../lists/posting-list.ts';
import { type ListRest, type NumberRange, readLists, readOn, readRange } from '../lists/read-parts.ts';
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
  /** All of them, part by part, in an order that is the same in every search; some perhaps twice. */
  stream(): AsyncIterable<Keys>;
}

/** Of a list that is too long to be read whole: a run has up to 320 keys. */
const moreRuns = 500;
/** A run has up to 120 numbers. */
const moreNumberRuns = 64;
/** So many are put in the order of their keys. */
const fewNumbers = 5_000;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;

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
  const first: Part<ListRest> = (await readLists(database, [list], moreRuns)).get(list) ?? emptyList;
  return {
    kind: 'fact',
    count: first.keys.length + 1,
    stream: () => streamParts(first, moreRuns, (rest, runs) => readOn(database, rest, runs)),
  };
}

/** Part of a list, and where the next one begins. */
interface Part<R> {
  keys: Keys;
  rest?: R;
}

async function* streamParts<R>(
  first: Part<R>,
  firstRuns: number,
  readNext: (rest: R, runs: number) => Promise<Part<R>>,
): AsyncGenerator<Keys> {
  yield first.keys;
  for (let { rest } = first, runs = firstRuns; rest !== undefined; runs *= growth) {
    const part = await readNext(rest, runs);
    yield part.keys;
    rest = part.rest;
  }
}

/** By value, part by part; few of them in the order of keys. How many they are decides that, not how many runs hold them: compaction must not change the order of an answer. */
async function readNumbers(database: Search['database'], range: NumberRange): Promise<Reading> {
  let first: Part<number> = await readRange(database, range, { maxRuns: moreNumberRuns });
  for (let maxRuns = moreNumberRuns; first.rest !== undefined && first.keys.length <= fewNumbers; ) {
    maxRuns *= growth;
    const { keys, rest } = await readRange(database, range, { maxRuns, from: first.rest });
    first = { keys: Float64Array.from([...first.keys, ...keys]), rest };
  }
  if (first.keys.length <= fewNumbers) return allOf('numbers', setOf(first.keys));
  return {
    kind: 'numbers',
    count: first.keys.length,
    stream: () =>
      streamParts(first, moreNumberRuns, (from, maxRuns) => readRange(database, range, { maxRuns, from })),
  };
}

function readAny(readings: readonly Reading[]): Reading {
  const wholes = readings.flatMap(({ whole }) => whole ?? []);
  if (wholes.length === readings.length) return allOf('any', union(wholes));
  return {
    kind: 'any',
    count: Math.max(...readings.map(({ count }) => count)),
    async *stream() {
      for (const each of readings) yield* each.stream();
    },
  };
}

function allOf(kind: Source['kind'], keys: Keys): Reading {
  return { kind, count: keys.length, whole: keys, stream: () => streamOnce(keys) };
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
