import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NumberList, readNumberRuns, sortByValue, toNumberRuns } from './number-list.ts';

const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const entries = fc.uniqueArray(fc.tuple(value, fc.maxSafeInteger()), {
  selector: ([number, key]) => `${number} ${key}`,
  maxLength: 600,
  size: 'max',
});

describe('a list of numbers', () => {
  it('comes back from the bytes of its runs, by value and key, also when they overlap', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 4 }), (numbers, parts) => {
        const runs = Array.from({ length: parts }, (_, part) =>
          toNumberRuns(sortByValue(listOf(numbers.filter((_, index) => index % parts === part)))),
        ).flat();
        const { list, firsts } = readNumberRuns(Buffer.concat(runs.flatMap(({ bytes }) => bytes ?? [])));
        expect(sortByValue(list)).toEqual(listOf([...numbers].sort(([a, x], [b, y]) => a - b || x - y)));
        expect(firsts).toEqual(runs.map(({ first }) => first));
      }),
      { numRuns: 50 },
    );
  });

  it('has runs of less than two kilobytes that say where they begin and end', () => {
    fc.assert(
      fc.property(entries, (numbers) => {
        for (const { first, last, count, bytes } of toNumberRuns(sortByValue(listOf(numbers)))) {
          expect(bytes?.length ?? 0).toBeLessThan(2_000);
          const { values } = readNumberRuns(bytes ?? Buffer.of()).list;
          expect([values[0], values.at(-1), values.length]).toEqual([first, last, count]);
        }
      }),
      { numRuns: 50 },
    );
  });
});

function listOf(numbers: readonly (readonly [number, number])[]): NumberList {
  return {
    keys: Float64Array.from(numbers, ([, key]) => key),
    values: Float64Array.from(numbers, ([number]) => number),
  };
}
