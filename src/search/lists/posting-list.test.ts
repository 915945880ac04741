import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf, lastNumbers, maxCatalogKey } from '../documents/keys.ts';
import { type KeyList, lowerBound, type Run, readRuns, seek, sortPostings, toRuns } from './posting-list.ts';

const key = fc
  .tuple(fc.oneof(fc.nat(20), fc.nat(1_000_000)), fc.oneof(fc.nat(20), fc.nat(100_000)))
  .map(([catalog, number]) => keyOf(catalog, number));
const weight = fc.oneof(fc.constant(90), fc.nat(100));
const list = fc
  .uniqueArray(fc.tuple(key, weight), { selector: ([each]) => each, maxLength: 2_000, size: 'max' })
  .map((entries) => listOf(entries.sort(([a], [b]) => a - b)));

describe('a list of keys', () => {
  it('comes back from the bytes of its runs, one after the other', () => {
    fc.assert(
      fc.property(list, (keys) => {
        const runs = toRuns(keys);
        const { list: read, starts } = readRuns(bytesOf(runs));
        expect(read).toEqual(wholeOf(keys, runs));
        expect(starts.map((start) => read.keys[start])).toEqual(manyKeys(runs).map(({ first }) => first));
      }),
      { numRuns: 30 },
    );
  });

  it('comes back in order from runs that overlap', () => {
    fc.assert(
      fc.property(list, fc.integer({ min: 2, max: 5 }), (keys, parts) => {
        const runs = Array.from({ length: parts }, (_, part) =>
          toRuns(listOf(entriesOf(keys).filter((_, index) => index % parts === part))),
        ).flat();
        expect(sortPostings(readRuns(bytesOf(runs)).list)).toEqual(wholeOf(keys, runs));
      }),
      { numRuns: 30 },
    );
  });

  it('comes back from anywhere in the space of keys, whatever each key counts', () => {
    const anywhere = fc.tuple(
      fc.integer({ min: 1, max: maxCatalogKey }),
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: lastNumbers.offer })),
      fc.nat(255),
    );
    fc.assert(
      fc.property(fc.uniqueArray(anywhere, { selector: String, maxLength: 700, size: 'max' }), (order) => {
        const entries = new Map(order.map(([catalog, number, counts]) => [keyOf(catalog, number), counts]));
        const keys = listOf([...entries].sort(([a], [b]) => a - b));
        const runs = toRuns(keys);
        expect(readRuns(bytesOf(runs)).list).toEqual(wholeOf(keys, runs));
      }),
      { numRuns: 30 },
    );
  });

  it('is looked through from a position on, however far away the next one is', () => {
    const numbers = fc.uniqueArray(fc.nat(2_000), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(numbers, fc.nat(2_100), fc.nat(), (some, wanted, from) => {
        const keys = Float64Array.from(some).sort();
        const lower = lowerBound(keys, wanted);
        if (lower > 0) expect(seek(keys, wanted, from % lower)).toBe(lower);
      }),
    );
  });

  it('has runs of less than two kilobytes that say where they end', () => {
    fc.assert(
      fc.property(list, (keys) => {
        for (const run of manyKeys(toRuns(keys))) {
          expect(run.bytes?.length ?? 0).toBeLessThan(2_000);
          expect(readRuns(bytesOf([run])).list.keys.at(-1)).toBe(run.last);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes two or three bytes for a key where most catalogs have some', () => {
    const dense = listOf(
      Array.from({ length: 3_000 }, (_, n) => [keyOf(1 + Math.floor(n / 3), 1 + (n % 3)), 90 + (n % 2)]),
    );
    const size = toRuns(dense).reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
    expect(size).toBeLessThanOrEqual(3.1 * 3_000);
  });
});

function listOf(entries: (readonly [number, number])[]): KeyList {
  return {
    keys: Float64Array.from(entries, ([each]) => each),
    weights: Uint8Array.from(entries, ([, each]) => each),
  };
}

function entriesOf({ keys, weights }: KeyList): (readonly [number, number])[] {
  return Array.from(keys, (each, index) => [each, weights[index] ?? 0]);
}

/** A run of one key has no bytes. */
function manyKeys(runs: readonly Run[]): Run[] {
  return runs.filter(({ bytes }) => bytes);
}

function bytesOf(runs: readonly Run[]): Buffer {
  return Buffer.concat(runs.flatMap(({ bytes }) => bytes ?? []));
}

/** The list without what stands alone in a run. */
function wholeOf(keys: KeyList, runs: readonly Run[]): KeyList {
  const alone = new Set(runs.filter(({ bytes }) => bytes === null).map(({ first }) => first));
  return listOf(entriesOf(keys).filter(([each]) => !alone.has(each)));
}
