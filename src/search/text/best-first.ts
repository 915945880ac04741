import type { TextQuery, WordVariant } from '../../rules/text/rank.ts';
import { sortRows } from '../lists/columns.ts';
import type { Keys } from '../lists/key-sets.ts';
import { addWord, finishRanks, type Ranked, rankKeys, selectRanks, type WordProbe } from './rank-keys.ts';

// The best k of many candidates, by upper bounds (MaxScore). The words that count most are added first. After each, so many ranks are reached already: that is the threshold. A candidate that
// cannot reach it with all words that are to come is dropped, so that the words that stand nearly everywhere are looked for in few resources. The others are ranked only if somebody reads
// that far.

interface BestFirst {
  /** At least so many as were asked for, and all of the last rank among them. */
  best: Ranked;
  rankOthers(): Promise<Ranked>;
}

export async function rankBestFirst(
  query: TextQuery,
  keys: Keys,
  probe: () => WordProbe,
  count: number,
): Promise<BestFirst> {
  const likely = await rankLikely(query, keys, probe(), count);
  const threshold = Math.max(likely.threshold, findReached(likely.ranked.ranks, count));
  return {
    best: sortByRank(selectRanks(likely.ranked, threshold, Number.POSITIVE_INFINITY)),
    rankOthers: async () => sortByRank(selectRanks(await rankKeys(query, keys, probe()), 0, threshold)),
  };
}

/** A rank that enough reach, and among others all candidates that reach it. */
async function rankLikely(
  query: TextQuery,
  keys: Keys,
  probe: WordProbe,
  count: number,
): Promise<{ ranked: Ranked; threshold: number }> {
  const words = query.words.map(({ variants }) => variants).sort((a, b) => boundOf(b) - boundOf(a));
  let ranked: Ranked = { keys, ranks: new Float64Array(keys.length) };
  let threshold = 0;
  let toCome = words.reduce((sum, variants) => sum + boundOf(variants), 0);
  for (let next = 0; next < words.length; ) {
    const known = next + (await probe.readNext(words.slice(next), ranked.keys));
    for (const variants of words.slice(next, known)) {
      addWord(ranked, variants, probe.postingsOf);
      toCome -= boundOf(variants);
      if (ranked.keys.length <= count) continue;
      threshold = Math.max(threshold, findReached(ranked.ranks, count, toCome));
      // Whatever has none of the words so far may still overtake.
      if (threshold > toCome)
        ranked = selectRanks(ranked, threshold - toCome - slack, Number.POSITIVE_INFINITY);
    }
    next = known;
  }
  return { ranked: finishRanks(ranked), threshold };
}

/** What a word counts at most. */
function boundOf(variants: readonly WordVariant[]): number {
  return Math.max(0, ...variants.map(({ weight }) => weight));
}

/** A rank that so many reach, and few more: ranks are counted in steps, from the highest one down. 0 where none is higher than `least`. */
function findReached(ranks: Float64Array, count: number, least = 0): number {
  let highest = 0;
  for (let index = 0; index < ranks.length; index++)
    if ((ranks[index] as number) > highest) highest = ranks[index] as number;
  if (highest <= least) return 0;
  const stepsOfOne = steps / highest;
  const counts = new Uint32Array(steps + 1);
  for (let index = 0; index < ranks.length; index++) {
    const step = Math.floor((ranks[index] as number) * stepsOfOne);
    counts[step] = (counts[step] as number) + 1;
  }
  let step = steps;
  for (let reached = counts[step] as number; reached < count && step > 0; )
    reached += counts[--step] as number;
  return Math.max(0, step / stepsOfOne - slack);
}

const steps = 1_000;
/** More than what sums differ by in their last digits, and what ranks are rounded by. */
const slack = 1e-8;

/** Equal ranks stay in the order of keys. */
export function sortByRank(ranked: Ranked): Ranked {
  const { ranks } = ranked;
  return sortRows(ranked, (a, b) => (ranks[a] as number) < (ranks[b] as number));
}
