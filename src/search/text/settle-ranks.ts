import { sortRows } from '../lists/columns.ts';
import type { Keys } from '../lists/key-sets.ts';
import type { Ranked } from './rank-keys.ts';

/**
 * Settles ranks that are upper bounds, the highest first: some at a time are ranked exactly, and a resource comes out when none that is left can come before it. Those that have no rank are
 * left out.
 */
export async function* settleRanks(
  bounds: AsyncIterable<Ranked>,
  rankExactly: (keys: Keys) => Promise<Ranked>,
  first: number,
): AsyncGenerator<Ranked> {
  let pending: Ranked = { keys: new Float64Array(), ranks: new Float64Array() };
  let atOnce = first;
  for await (const part of bounds)
    for (let start = 0, end = 0; start < part.keys.length; start = end) {
      end = start + atOnce;
      atOnce = Math.min(atOnce * growth, most);
      // Equal ranks are in the order of keys, and so are equal bounds.
      const [bound, key] = [part.ranks[start] as number, part.keys[start] as number];
      const settled = takeBefore(pending, bound, key);
      if (settled.best.keys.length > 0) yield settled.best;
      const exact = await rankExactly(part.keys.slice(start, end).sort());
      pending = mergeRanked(settled.rest, exact);
    }
  if (pending.keys.length > 0) yield pending;
}

/** Where many have no rank after all, more are looked at. */
const growth = 3;
const most = 3_000;

function takeBefore(ranked: Ranked, bound: number, key: number): { best: Ranked; rest: Ranked } {
  const { keys, ranks } = ranked;
  let end = 0;
  while (
    end < keys.length &&
    ((ranks[end] as number) > bound || (ranks[end] === bound && (keys[end] as number) < key))
  )
    end++;
  const cut = (from: number, to?: number): Ranked => ({
    keys: keys.subarray(from, to),
    ranks: ranks.subarray(from, to),
  });
  return { best: cut(0, end), rest: cut(end) };
}

/** The highest rank first, equal ones in the order of keys. */
function mergeRanked(a: Ranked, b: Ranked): Ranked {
  const keys = new Float64Array(a.keys.length + b.keys.length);
  const ranks = new Float64Array(keys.length);
  for (const [part, start] of [
    [a, 0],
    [b, a.keys.length],
  ] as const) {
    keys.set(part.keys, start);
    ranks.set(part.ranks, start);
  }
  return sortRows({ keys, ranks }, (one, other) => {
    const difference = (ranks[one] as number) - (ranks[other] as number);
    return difference < 0 || (difference === 0 && (keys[one] as number) > (keys[other] as number));
  });
}
