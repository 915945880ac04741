import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankOf, type TextQuery } from '../../rules/text/rank.ts';
import { headOf, keyOf } from '../documents/keys.ts';
import { divideHeads } from '../lists/read-whole.ts';
import { bestAtOnce, rankBestFirst } from './best-first.ts';
import { type PostingsOf, rankKeys } from './rank-keys.ts';

const vocabulary = ['a', 'b', 'c', 'd'];
const weight = fc.oneof(fc.constantFrom(0.3, 1.7, 5), fc.double({ min: 0.001, max: 9, noNaN: true }));
const variant = fc.record({ word: fc.constantFrom(...vocabulary, 'nowhere'), weight });
const query: fc.Arbitrary<TextQuery> = fc.record({
  words: fc.array(fc.record({ word: fc.constant(''), variants: fc.array(variant, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});

/** Catalogs of three resources, and where each word stands: in one of so many of them, and what is said of catalogs in one of so many. */
const index = fc
  .record({
    catalogs: fc.constantFrom(1, 40, bestAtOnce, 2 * bestAtOnce),
    frequencies: fc.tuple(...vocabulary.map(() => fc.tuple(fc.constantFrom(1, 2, 7, 500), fc.nat(9)))),
    seed: fc.nat(1_000),
  })
  .map(({ catalogs, frequencies, seed }) => {
    let state = seed;
    const next = (below: number) => {
      state = (state * 48_271 + 11) % 2_147_483_647;
      return state % below;
    };
    const keys = Array.from({ length: catalogs * 3 }, (_, at) => keyOf(1 + Math.floor(at / 3), 1 + (at % 3)));
    const heads = [...new Set(keys.map(headOf))];
    const lists = new Map(
      frequencies.map(([every, ofHeads], word) => {
        const all = [
          ...keys.filter(() => next(every) === 0),
          ...(ofHeads > 0 ? heads.filter(() => next(ofHeads) === 0) : []),
        ];
        const list = {
          keys: Float64Array.from(all).sort(),
          weights: Uint8Array.from(all, () => 100 - next(4) * 9),
        };
        return [vocabulary[word] ?? '', list];
      }),
    );
    const postingsOf: PostingsOf = (word) => {
      const list = lists.get(word);
      return list ? [divideHeads(list)] : [];
    };
    return { keys: Float64Array.from(keys), lists, postingsOf };
  });

describe('the ranks of many resources', () => {
  it('are those of each, by the words of its own and of its catalog', () => {
    fc.assert(
      fc.property(query, index, (asked, { keys, lists, postingsOf }) => {
        const wordsOf = new Map<number, Map<string, number>>();
        for (const [word, list] of lists)
          for (const [at, key] of list.keys.entries()) {
            const words = wordsOf.get(key) ?? new Map();
            wordsOf.set(key, words.set(word, (list.weights[at] ?? 0) / 100));
          }
        const expected = [...keys].flatMap((key) => {
          const documents = [key, headOf(key)].flatMap((each) => wordsOf.get(each) ?? []);
          const rank = rankOf(asked, documents);
          return rank === undefined ? [] : [[key, rank]];
        });
        const { keys: found, ranks } = rankKeys(asked, keys, postingsOf);
        expect(Array.from(found, (key, at) => [key, ranks[at]])).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('come highest first, and equal ones in the order of keys, whichever are left out on the way', () => {
    fc.assert(
      fc.property(query, index, (asked, { keys, postingsOf }) => {
        const { keys: all, ranks } = rankKeys(asked, keys, postingsOf);
        const expected = Array.from(all, (key, at) => ({ key, rank: ranks[at] ?? 0 })).sort(
          (a, b) => b.rank - a.rank || a.key - b.key,
        );
        const { best, rankOthers } = rankBestFirst(asked, keys, postingsOf);
        const parts = [best, rankOthers()];
        const found = parts.flatMap((part) =>
          Array.from(part.keys, (key, at) => ({ key, rank: part.ranks[at] })),
        );
        expect(found).toEqual(expected);
        expect(best.keys.length).toBeGreaterThanOrEqual(Math.min(bestAtOnce, expected.length));
      }),
      { numRuns: 100 },
    );
  });
});
