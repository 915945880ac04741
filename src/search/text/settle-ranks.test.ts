import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Keys } from '../set/sorted.ts';
import type { Ranked } from './rank-keys.ts';
import { settleRanks } from './settle-ranks.ts';

/** Resources with an upper bound and a rank that is not higher; 0: it has none. */
const resources = fc
  .array(fc.tuple(fc.nat(4), fc.nat(4)), { maxLength: 60 })
  .map((pairs) =>
    pairs.map(([a, b], index) => ({ key: index + 1, bound: Math.max(a, b), rank: Math.min(a, b) })),
  );

it('resources come by their ranks, equal ones in the order of keys, whatever their upper bounds are', async () => {
  await fc.assert(
    fc.asyncProperty(resources, fc.integer({ min: 1, max: 9 }), fc.nat(4), async (all, atOnce, divide) => {
      const ranks = new Map(all.map(({ key, rank }) => [key, rank]));
      const byBound = all.toSorted((a, b) => b.bound - a.bound || a.key - b.key);
      const parts = [
        byBound.filter(({ bound }) => bound >= divide),
        byBound.filter(({ bound }) => bound < divide),
      ];
      const verified: number[] = [];
      const rankExactly = async (keys: Keys): Promise<Ranked> => {
        expect([...keys]).toEqual([...keys].sort((a, b) => a - b));
        verified.push(...keys);
        const ranked = keys.filter((key) => ranks.get(key));
        return { keys: ranked, ranks: ranked.map((key) => ranks.get(key) ?? 0), bands: ranked };
      };
      const bounds = parts.map((part) => ({
        keys: Float64Array.from(part, ({ key }) => key),
        ranks: Float64Array.from(part, ({ bound }) => bound),
        bands: Float64Array.from(part, ({ bound }) => bound),
      }));
      const found: number[] = [];
      for await (const { keys } of settleRanks(streamAll(bounds), rankExactly, atOnce)) found.push(...keys);
      const expected = all
        .filter(({ rank }) => rank > 0)
        .toSorted((a, b) => b.rank - a.rank || a.key - b.key);
      expect(found).toEqual(expected.map(({ key }) => key));
      expect(new Set(verified).size).toBe(verified.length);
    }),
  );
});

it('no more are ranked than it takes to settle those that are read', async () => {
  const keys = Float64Array.from({ length: 1_000 }, (_, index) => index + 1);
  let verified = 0;
  const settled = settleRanks(
    streamAll([{ keys, ranks: keys.map(() => 5), bands: keys }]),
    async (some) => {
      verified += some.length;
      return { keys: some, ranks: some.map(() => 5), bands: some };
    },
    10,
  );
  expect((await settled.next()).value?.keys).toHaveLength(10);
  expect(verified).toBe(10);
});

async function* streamAll(parts: readonly Ranked[]): AsyncGenerator<Ranked> {
  yield* parts;
}
