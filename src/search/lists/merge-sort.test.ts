import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sortIndexes } from './merge-sort.ts';

it('puts indexes in order, equal ones as they were, and says where they are so already', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(40), { maxLength: 30 }), { maxLength: 12 }), (some) => {
      const values = some.flatMap((run) => run.sort((a, b) => a - b));
      const sorted = values
        .map((_, position) => position)
        .sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
      const order = sortIndexes(values.length, (a, b) => (values[a] ?? 0) > (values[b] ?? 0));
      const isInOrder = sorted.every((position, index) => position === index);
      expect(order && [...order]).toEqual(isInOrder ? undefined : sorted);
    }),
  );
});
