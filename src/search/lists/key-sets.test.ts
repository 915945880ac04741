import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { difference, intersection, type Keys, keysOf, prepareLookup, setOf, union } from './key-sets.ts';

const numbers = fc.array(fc.nat(200), { maxLength: 120 });
const set = numbers.map((some) => keysOf(new Set(some)));

describe('sets of keys', () => {
  it('have all that one of them has, in order and once', () => {
    fc.assert(
      fc.property(fc.array(set, { maxLength: 9 }), (sets) => {
        expect([...union(sets)]).toEqual([...keysOf(new Set(sets.flatMap((each) => [...each])))]);
      }),
    );
  });

  it('have in common what each has, and differ in what one has alone, whichever is longer', () => {
    fc.assert(
      fc.property(set, set, fc.nat(4), (some, others, at) => {
        for (const [a, b] of [
          [some, others],
          [some.subarray(0, at), others],
        ] as [Keys, Keys][]) {
          expect([...intersection(a, b)]).toEqual([...a].filter((key) => b.includes(key)));
          expect([...difference(a, b)]).toEqual([...a].filter((key) => !b.includes(key)));
        }
      }),
    );
  });

  it('are asked for keys in any order, also for those of distant catalogs', () => {
    const key = fc.oneof(fc.nat(200), fc.maxSafeInteger());
    const some = fc.array(key, { maxLength: 120 }).map((keys) => keysOf(new Set(keys)));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 3 }), fc.array(key), (sets, others) => {
        const isInAll = prepareLookup(sets);
        for (const each of [...sets.flatMap((set) => [...set]), ...others])
          expect(isInAll(each)).toBe(sets.every((set) => set.includes(each)));
      }),
    );
  });

  it('are made of keys in any order, some twice', () => {
    fc.assert(
      fc.property(numbers, (some) => {
        const keys = Float64Array.from(some);
        expect([...setOf(keys)]).toEqual([...keysOf(new Set(some))]);
        expect([...keys]).toEqual(some);
      }),
    );
  });
});
