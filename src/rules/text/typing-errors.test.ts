import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import {
  allowedEdits,
  findEditDistance,
  findEdits,
  indexKeys,
  likenessOf,
  queryKeys,
} from './typing-errors.ts';

describe('allowedEdits', () => {
  it.each([
    ['of', 0],
    ['tea', 1],
    ['chaii', 1],
    ['coffee', 2],
    ['चायपत्ती', 2],
    ['60kw', 0],
    ['2026', 0],
    ['充电', 0],
    ['เขี', 0],
  ])('of %s: %i', (word, edits) => {
    expect(allowedEdits(word)).toBe(edits);
  });
});

describe('findEdits', () => {
  it.each([
    ['tea', 'tea', 0],
    ['of', 'of', 0],
    ['60kw', '60kw', 0],
    ['tea', 'teas', 1],
    ['teas', 'tea', 1],
    ['charger', 'chager', 1],
    ['chrgr', 'charger', undefined],
    ['cofffe', 'cofe', 2],
    ['or', 'of', undefined],
    ['60kw', '50kw', undefined],
    ['kws', '2kw', undefined],
    ['cafe', 'café', 1],
  ])('of %s for %s: %s', (query, indexed, edits) => {
    expect(findEdits(query, indexed)).toBe(edits);
  });
});

describe('likenessOf', () => {
  it.each([
    ['battery', 'battery', 1],
    ['battrey', 'battery', 6 / 7],
    ['cables', 'table', 1 / 6],
    ['cables', 'tabled', 1 / 6],
  ])('of %s and %s: %d', (query, indexed, likeness) => {
    expect(likenessOf(query, indexed)).toBe(likeness);
  });

  it('is never 0 for a word that is found: it would count nothing', () => {
    fc.assert(
      fc.property(word(3, 9), word(3, 9), (left, right) => {
        if (findEdits(left, right) !== undefined) expect(likenessOf(left, right)).toBeGreaterThan(0);
      }),
    );
  });
});

describe('findEditDistance', () => {
  it.each([
    ['coffee', 'coffee', 0],
    ['cofee', 'coffee', 1],
    ['coffe', 'coffee', 1],
    ['kafee', 'coffee', undefined],
    ['kitten', 'sitting', undefined],
    ['ab', 'ba', 1],
    ['battrey', 'battery', 1],
    ['ca', 'abc', undefined],
    ['', 'ab', 2],
    ['ab', '', 2],
    ['😀a', 'a', 1],
  ])('of %s and %s within 2 is %s', (left, right, distance) => {
    expect(findEditDistance(left, right, 2)).toBe(distance);
  });

  it('is that of the definition', () => {
    fc.assert(
      fc.property(word(0, 7), word(0, 7), fc.integer({ min: 0, max: 3 }), (left, right, most) => {
        const distance = byDefinition(left, right);
        expect(findEditDistance(left, right, most)).toBe(distance <= most ? distance : undefined);
      }),
    );
  });
});

describe('indexKeys and queryKeys', () => {
  it('have one in common wherever a query word stands for an indexed one', () => {
    let pairs = 0;
    const edited = word(3, 12).chain((query) => edits(query).map((indexed) => ({ query, indexed })));
    fc.assert(
      fc.property(edited, ({ query, indexed }) => {
        if (!findEdits(query, indexed)) return;
        pairs++;
        const keys = queryKeys(query);
        expect([...indexKeys(indexed)].some((key) => keys.has(key))).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
    expect(pairs).toBeGreaterThan(runs(1_000));
  });

  it('are few, and none for what must be exact', () => {
    expect(indexKeys('internationalisation').size).toBeLessThanOrEqual(37);
    expect(queryKeys('60kw').size).toBe(0);
    expect(indexKeys('60kw').size).toBe(0);
    expect(indexKeys('a').size).toBe(0);
  });
});

function word(minLength: number, maxLength: number) {
  return fc.string({ unit: fc.constantFrom(...'abcé'), minLength, maxLength });
}

/** A word with up to two letters inserted, deleted, replaced or swapped. */
function edits(of: string): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(of.length),
    deletes: fc.nat(1),
    inserts: word(0, 1),
    swaps: fc.boolean(),
  });
  return fc.array(edit, { maxLength: 2 }).map((all) => {
    const letters = [...of];
    for (const { at, deletes, inserts, swaps } of all)
      if (swaps) letters.splice(at, 2, ...letters.slice(at, at + 2).reverse());
      else letters.splice(at, deletes, ...inserts);
    return letters.join('');
  });
}

function byDefinition(left: string, right: string): number {
  if (left === '' || right === '') return left.length + right.length;
  const isSwapped = left.length > 1 && left[0] === right[1] && left[1] === right[0];
  return Math.min(
    isSwapped ? byDefinition(left.slice(2), right.slice(2)) + 1 : Number.POSITIVE_INFINITY,
    byDefinition(left.slice(1), right) + 1,
    byDefinition(left, right.slice(1)) + 1,
    byDefinition(left.slice(1), right.slice(1)) + (left[0] === right[0] ? 0 : 1),
  );
}
