import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Keys } from '../set/sorted.ts';
import type { RankedHit } from './rank-keys.ts';
import { settleRanks } from './settle-ranks.ts';

/** Resources with an upper bound and a rank that is not higher; 0: no rank. */
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
      const rankExactly = async (keys: Keys): Promise<RankedHit[]> => {
        expect([...keys]).toEqual([...keys].sort((a, b) => a - b));
        verified.push(...keys);
        return [...keys].flatMap((key) => (ranks.get(key) ? [{ key, rank: ranks.get(key) ?? 0 }] : []));
      };
      const bounds = parts.map((part) => part.map(({ key, bound }) => ({ key, rank: bound })));
      const found: number[] = [];
      for await (const hits of settleRanks(streamAll(bounds), rankExactly, atOnce))
        found.push(...hits.map(({ key }) => key));
      const expected = all
        .filter(({ rank }) => rank > 0)
        .toSorted((a, b) => b.rank - a.rank || a.key - b.key);
      expect(found).toEqual(expected.map(({ key }) => key));
      expect(new Set(verified).size).toBe(verified.length);
    }),
  );
});

it('no more are ranked than it takes to settle those that are read', async () => {
  const hits = Array.from({ length: 1_000 }, (_, index) => ({ key: index + 1, rank: 5 }));
  let verified = 0;
  const settled = settleRanks(
    streamAll([hits]),
    async (some) => {
      verified += some.length;
      return Array.from(some, (key) => ({ key, rank: 5 }));
    },
    10,
  );
  expect((await settled.next()).value).toHaveLength(10);
  expect(verified).toBe(10);
});

async function* streamAll(parts: readonly RankedHit[][]): AsyncGenerator<RankedHit[]> {
  yield* parts;
}
