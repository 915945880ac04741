import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bestAtOnce, bestFirst } from './best-first.ts';

it('puts resources in the order of their ranks, and equal ones in the order of their keys, however many there are', () => {
  const rank = fc.oneof(fc.constantFrom(1, 2, 2.5), fc.double({ min: 0.1, max: 9, noNaN: true }));
  const length = fc.constantFrom(0, 1, 50, bestAtOnce, bestAtOnce + 1, 3 * bestAtOnce);
  const ranks = length.chain((count) =>
    fc
      .oneof(fc.constantFrom(1, 7), rank)
      .chain((few) =>
        fc.array(fc.oneof(fc.constant(few), rank), { minLength: count, maxLength: count, size: 'max' }),
      ),
  );
  fc.assert(
    fc.property(ranks, (each) => {
      const parts = [
        ...bestFirst({ keys: Float64Array.from(each, (_, key) => key), ranks: Float64Array.from(each) }),
      ];
      const expected = each.map((_, key) => key).sort((a, b) => (each[b] ?? 0) - (each[a] ?? 0) || a - b);
      expect(parts.flatMap(({ keys }) => [...keys])).toEqual(expected);
      expect(parts.flatMap((part) => [...part.ranks])).toEqual(expected.map((key) => each[key]));
    }),
    { numRuns: 60 },
  );
});
