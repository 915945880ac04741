import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankOf, type TextQuery } from '../../rules/text/rank.ts';
import { headOf, keyOf } from '../documents/keys.ts';
import { selectRows } from '../lists/columns.ts';
import { type KeyList, maxRunKeys, type WholeList } from '../lists/posting-list.ts';
import { divideHeads } from '../lists/read-whole.ts';
import { rankBestFirst } from './best-first.ts';
import { type PostingsOf, rankKeys, type WordProbe } from './rank-keys.ts';

const vocabulary = ['a', 'b', 'c', 'd'];
const weight = fc.oneof(fc.constantFrom(0.3, 1.7, 5), fc.double({ min: 0.001, max: 9, noNaN: true }));
const variant = fc.record({ word: fc.constantFrom(...vocabulary, 'nowhere'), weight });
const query: fc.Arbitrary<TextQuery> = fc.record({
  words: fc.array(fc.record({ word: fc.constant(''), variants: fc.array(variant, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});

const few = 20;
const many = 1_200;

/** Catalogs of three resources, and where each word stands: in one of so many of them, and what is said of catalogs in one of so many. */
const index = fc
  .record({
    catalogs: fc.constantFrom(1, 40, many, 2 * many),
    frequencies: fc.tuple(...vocabulary.map(() => fc.tuple(fc.constantFrom(1, 2, 7, 500), fc.nat(9)))),
    seed: fc.nat(1_000),
    transactions: fc.constantFrom(0, 1, 3),
  })
  .map(({ catalogs, frequencies, seed, transactions }) => {
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
      if (list === undefined) return [];
      return transactions === 0 ? [divideHeads(list)] : cutRuns(list, transactions);
    };
    /** One word after the other, or all at once. */
    const probe = (): WordProbe => ({
      readNext: async (words) => (seed % 2 === 0 ? 1 : words.length),
      postingsOf,
    });
    return { keys: Float64Array.from(keys), lists, probe };
  });

/** Runs as a list has them that came about by so many transactions: each added keys from the lowest to the highest. */
function cutRuns(list: KeyList, transactions: number): WholeList[] {
  return Array.from({ length: transactions }, (_, number) => {
    const added = selectRows(list, (index) => index % transactions === number);
    return Array.from({ length: Math.ceil(added.keys.length / maxRunKeys) }, (_, run) => ({
      keys: added.keys.subarray(run * maxRunKeys, (run + 1) * maxRunKeys),
      weights: added.weights.subarray(run * maxRunKeys, (run + 1) * maxRunKeys),
    }));
  })
    .flat()
    .map(divideHeads);
}

describe('the ranks of many resources', () => {
  it('leave out no resource whose words count next to nothing', async () => {
    const keys = Float64Array.of(keyOf(1, 1), keyOf(1, 2));
    const list: KeyList = { keys: keys.subarray(1), weights: Uint8Array.of(100) };
    const probe: WordProbe = {
      readNext: async (words) => words.length,
      postingsOf: () => [divideHeads(list)],
    };
    const asked: TextQuery = { words: [{ word: 'a', variants: [{ word: 'a', weight: 1e-12 }] }] };
    const { keys: found, ranks } = await rankKeys(asked, keys, probe);
    expect([[...found], [...ranks]]).toEqual([[keyOf(1, 2)], [0]]);
  });

  it('are those of each, by the words of its own and of its catalog', async () => {
    await fc.assert(
      fc.asyncProperty(query, index, async (asked, { keys, lists, probe }) => {
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
        const { keys: found, ranks } = await rankKeys(asked, keys, probe());
        expect(Array.from(found, (key, at) => [key, ranks[at]])).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('come highest first, and equal ones in the order of keys, whichever are left out on the way', async () => {
    await fc.assert(
      fc.asyncProperty(query, index, fc.constantFrom(few, many), async (asked, { keys, probe }, count) => {
        const { keys: all, ranks } = await rankKeys(asked, keys, probe());
        const expected = Array.from(all, (key, at) => ({ key, rank: ranks[at] ?? 0 })).sort(
          (a, b) => b.rank - a.rank || a.key - b.key,
        );
        const { best, rankOthers } = await rankBestFirst(asked, keys, probe, count);
        const parts = [best, await rankOthers()];
        const found = parts.flatMap((part) =>
          Array.from(part.keys, (key, at) => ({ key, rank: part.ranks[at] })),
        );
        expect(found).toEqual(expected);
        expect(best.keys.length).toBeGreaterThanOrEqual(Math.min(count, expected.length));
      }),
      { numRuns: 200 },
    );
  });
});
