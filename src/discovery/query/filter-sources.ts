import {
  type ListPart,
  type NumberRange,
  readLists,
  readOn,
  readRange,
} from '../../storage/discovery-list-reader.ts';
import { factList } from '../../storage/discovery-lists.ts';
import type { Search } from './candidates.ts';
import { type Keys, union } from './key-sets.ts';
import type { Source } from './plan-filter.ts';

// What the index knows of the parts of a filter, read only as far as it is needed: a first look tells how many resources a part leads to, and
// of few parts there is more.

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

/** A run has up to 320 keys. */
const firstRuns = 50;
const moreRuns = 500;
/** A run has up to 120 numbers. */
const firstNumberRuns = 64;
const moreNumberRuns = 256;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;

/** A first look at each of these. */
export async function readSources(
  { database }: Pick<Search, 'database'>,
  sources: readonly Source[],
): Promise<Reading[]> {
  const hashes = new Set(sources.flatMap(factsOf));
  const lists = await readLists(database, [...hashes].map(factList), firstRuns);
  const read = async (source: Source): Promise<Reading> => {
    switch (source.kind) {
      case 'fact':
        return readList(database, lists.get(source.hash));
      case 'numbers':
        return readNumbers(database, source);
      case 'any':
        return readAny(await Promise.all(source.sources.map(read)));
    }
  };
  return Promise.all(sources.map(read));
}

function factsOf(source: Source): number[] {
  if (source.kind === 'any') return source.sources.flatMap(factsOf);
  return source.kind === 'fact' ? [source.hash] : [];
}

function readList(database: Search['database'], first: ListPart | undefined): Reading {
  if (first?.rest === undefined) return allOf('fact', first?.keys ?? new Float64Array());
  return {
    kind: 'fact',
    count: first.keys.length + 1,
    async *stream() {
      yield first.keys;
      for (let { rest } = first, runs = moreRuns; rest; runs *= growth) {
        const part = await readOn(database, rest, runs);
        yield part.keys;
        rest = part.rest;
      }
    },
  };
}

/** By value. */
async function readNumbers(database: Search['database'], range: NumberRange): Promise<Reading> {
  const first = await readRange(database, range, { maxRuns: firstNumberRuns });
  // Below arrays, one resource may have several numbers at a path.
  if (first.rest === undefined) return allOf('numbers', union([first.keys.slice().sort()]));
  return {
    kind: 'numbers',
    count: first.keys.length,
    async *stream() {
      yield first.keys;
      for (let from = first.rest, maxRuns = moreNumberRuns; from !== undefined; maxRuns *= growth) {
        const part = await readRange(database, range, { maxRuns, from });
        yield part.keys;
        from = part.rest;
      }
    },
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
  return {
    kind,
    count: keys.length,
    whole: keys,
    async *stream() {
      yield keys;
    },
  };
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
  return union(parts);
}
