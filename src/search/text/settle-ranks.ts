import type { Keys } from '../set/sorted.ts';
import { mergeRanked, noneRanked, type Ranked, slice } from './rank-keys.ts';

/**
 * Settles ranks that are upper bounds, the highest first: some at a time are ranked exactly, and a resource comes out when none that is left can come before it. Those that have no rank are
 * left out.
 */
export async function* settleRanks(
  bounds: AsyncIterable<Ranked>,
  rankExactly: (keys: Keys) => Promise<Ranked>,
  first: number,
): AsyncGenerator<Ranked> {
  let pending = noneRanked;
  let atOnce = first;
  for await (const part of bounds)
    for (let start = 0, end = 0; start < part.keys.length; start = end) {
      end = start + atOnce;
      atOnce = Math.min(atOnce * growth, most);
      // Equal ranks are in the order of keys, and so are equal bounds.
      const settled = countBefore(pending, part.ranks[start] as number, part.keys[start] as number);
      if (settled > 0) yield slice(pending, 0, settled);
      const exact = await rankExactly(part.keys.slice(start, end).sort());
      pending = mergeRanked([slice(pending, settled), exact]);
    }
  if (pending.keys.length > 0) yield pending;
}

/** Where many have no rank after all, more are looked at. */
const growth = 3;
const most = 3_000;

function countBefore({ keys, ranks }: Ranked, bound: number, key: number): number {
  let end = 0;
  while (
    end < keys.length &&
    ((ranks[end] as number) > bound || (ranks[end] === bound && (keys[end] as number) < key))
  )
    end++;
  return end;
}
