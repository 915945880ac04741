import { lowerBound } from '../../storage/key-list.ts';
import { type Keys, setOf } from './key-sets.ts';

// Resources in the order of their ranks, without putting more of them in order than are looked at.

/** Resources, and beside each its rank. */
export interface Ranked {
  keys: Keys;
  ranks: Float64Array;
}

/** As a rule the first part is enough, and the rest is never put in order. */
export function* bestFirst(ranked: Ranked): Generator<Ranked> {
  if (ranked.keys.length <= bestAtOnce) return yield inOrderOfRanks(ranked);
  const least = nthHighest(ranked.ranks, bestAtOnce);
  yield inOrderOfRanks(withRanks(ranked, (rank) => rank >= least));
  yield inOrderOfRanks(withRanks(ranked, (rank) => rank < least));
}

export const bestAtOnce = 1_200;

function withRanks({ keys, ranks }: Ranked, isWanted: (rank: number) => boolean): Ranked {
  const wanted = ranks.map((rank) => (isWanted(rank) ? rank : 0));
  return withRank(keys, wanted);
}

/** Divides the ranks into higher and lower ones, and again those among which it is. */
function nthHighest(ranks: Float64Array, n: number): number {
  const values = ranks.slice();
  for (let left = 0, right = values.length - 1; left < right; ) {
    const pivot = values[(left + right) >>> 1] as number;
    let [low, high] = [left, right];
    while (low <= high) {
      while ((values[low] as number) > pivot) low++;
      while ((values[high] as number) < pivot) high--;
      if (low > high) break;
      [values[low], values[high]] = [values[high] as number, values[low] as number];
      low++;
      high--;
    }
    if (n - 1 <= high) right = high;
    else if (n - 1 >= low) left = low;
    else break;
  }
  return values[n - 1] as number;
}

/** Ranks are few: each gets its range of places in the order. Equal ones stay in the order of keys. */
function inOrderOfRanks({ keys, ranks }: Ranked): Ranked {
  const levels = setOf(ranks);
  const starts = new Uint32Array(levels.length + 1);
  const levelOf = Uint32Array.from(ranks, (rank) => levels.length - 1 - lowerBound(levels, rank));
  for (const level of levelOf) starts[level + 1] = (starts[level + 1] as number) + 1;
  for (let level = 0; level < levels.length; level++)
    starts[level + 1] = (starts[level + 1] as number) + (starts[level] as number);
  const sorted = { keys: new Float64Array(keys.length), ranks: new Float64Array(keys.length) };
  for (let index = 0; index < keys.length; index++) {
    const level = levelOf[index] as number;
    const place = starts[level] as number;
    starts[level] = place + 1;
    sorted.keys[place] = keys[index] as number;
    sorted.ranks[place] = ranks[index] as number;
  }
  return sorted;
}

/** Those that have a rank at all. */
export function withRank(keys: Keys, ranks: Float64Array): Ranked {
  const found: Ranked = { keys: new Float64Array(keys.length), ranks: new Float64Array(keys.length) };
  let count = 0;
  for (let index = 0; index < keys.length; index++) {
    if (ranks[index] === 0) continue;
    found.keys[count] = keys[index] as number;
    found.ranks[count++] = ranks[index] as number;
  }
  return { keys: found.keys.subarray(0, count), ranks: found.ranks.subarray(0, count) };
}
