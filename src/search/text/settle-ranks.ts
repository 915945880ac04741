import { sortHits } from '../hit.ts';
import { type Keys, keysOf } from '../set/sorted.ts';
import type { RankedHit } from './rank-keys.ts';

/** Settles ranks that are upper bounds, the highest first. Returns a resource when no remaining one can come before it. */
export async function* settleRanks(
  bounds: AsyncIterable<readonly RankedHit[]>,
  rankExactly: (keys: Keys) => Promise<RankedHit[]>,
  first: number,
): AsyncGenerator<RankedHit[]> {
  let pending: RankedHit[] = [];
  let atOnce = first;
  for await (const part of bounds)
    for (let start = 0, end = 0; start < part.length; start = end) {
      end = start + atOnce;
      atOnce = Math.min(atOnce * growth, most);
      // Equal ranks are in key order, and so are equal bounds.
      const { rank, key } = part[start] as RankedHit;
      const isBefore = (hit: RankedHit) => hit.rank > rank || (hit.rank === rank && hit.key < key);
      const settled = pending.filter(isBefore);
      if (settled.length > 0) yield settled;
      const exact = await rankExactly(keysOf(part.slice(start, end).map((hit) => hit.key)));
      pending = sortHits([...pending.slice(settled.length), ...exact]);
    }
  if (pending.length > 0) yield pending;
}

/** If many have no rank, the next batches are larger. */
const growth = 3;
const most = 3_000;
