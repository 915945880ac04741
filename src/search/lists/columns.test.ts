import fc from 'fast-check';
import { expect, it } from 'vitest';
import { selectRows, sortRows } from './columns.ts';

/** Runs that are in order each, as lists have them; the weights tell which row was which. */
const rows = fc
  .array(fc.array(fc.nat(40), { maxLength: 20 }), { maxLength: 12 })
  .map((some) => some.flatMap((run) => run.sort((a, b) => a - b)))
  .map((keys) => ({ keys: Float64Array.from(keys), weights: Uint8Array.from(keys, (_, index) => index) }));

it('rows are sorted together, equal ones as they were, and those in order already are not copied', () => {
  fc.assert(
    fc.property(rows, (columns) => {
      const { keys, weights } = columns;
      const sorted = sortRows(columns, (a, b) => (keys[a] ?? 0) > (keys[b] ?? 0));
      const expected = Array.from(keys, (key, index) => [key, weights[index]] as [number, number]).sort(
        ([a], [b]) => a - b,
      );
      expect(Array.from(sorted.keys, (key, index) => [key, sorted.weights[index]])).toEqual(expected);
      const isInOrder = keys.every((key, index) => index === 0 || (keys[index - 1] ?? 0) <= key);
      expect(sorted === columns).toBe(isInOrder);
    }),
  );
});

it('rows are selected together in their order, and are not copied where all are', () => {
  fc.assert(
    fc.property(rows, fc.nat(40), (columns, least) => {
      const { keys } = columns;
      const selected = selectRows(columns, (index) => (keys[index] ?? 0) >= least);
      const indexes = Array.from(keys.keys()).filter((index) => (keys[index] ?? 0) >= least);
      expect([...selected.weights]).toEqual(indexes);
      expect([...selected.keys]).toEqual(indexes.map((index) => keys[index]));
      expect(selected === columns).toBe(indexes.length === keys.length);
    }),
  );
});
