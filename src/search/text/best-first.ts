import type { TextQuery } from '../../rules/text/rank.ts';
import { sortRows } from '../lists/columns.ts';
import type { Keys } from '../lists/key-sets.ts';
import { countKeys } from '../lists/read-whole.ts';
import { addWord, type PostingsOf, type Ranked, rankKeys, selectRanks } from './rank-keys.ts';

// Ranks best first (top k): the best resources are ranked exactly and sorted, and the others only if somebody reads that far.

interface BestFirst {
  best: Ranked;
  /** All others. As a rule nobody asks for them, and they are never ranked. */
  rankOthers(): Ranked;
}

export function rankBestFirst(query: TextQuery, keys: Keys, postingsOf: PostingsOf): BestFirst {
  const likely = findLikely(query, keys, postingsOf);
  const ranked = rankKeys(query, likely.keys, postingsOf);
  const least = Math.max(likely.least, findReached(ranked.ranks, bestAtOnce));
  return {
    best: sortByRank(selectRanks(ranked, least, Number.POSITIVE_INFINITY)),
    rankOthers: () => sortByRank(selectRanks(rankKeys(query, keys, postingsOf), 0, least)),
  };
}

export const bestAtOnce = 1_200;
/** So many are ranked rather than looked through for those that are likely. */
const few = 3 * bestAtOnce;

/**
 * A rank that enough reach, and keys among which are all that reach it. The rarest words are looked for first, and what could not reach it with all
 * others is left out: so that the words that stand nearly everywhere are looked for in few resources.
 */
function findLikely(query: TextQuery, keys: Keys, postingsOf: PostingsOf): { keys: Keys; least: number } {
  const words = query.words.map(({ variants }) => ({
    variants,
    most: Math.max(0, ...variants.map(({ weight }) => weight)),
    postings: variants
      .flatMap(({ word }) => postingsOf(word))
      .reduce((sum, list) => sum + countKeys(list), 0),
  }));
  let ranked: Ranked = { keys, ranks: new Float64Array(keys.length) };
  let least = 0;
  let highest = 0;
  let toCome = words.reduce((sum, { most }) => sum + most, 0);
  for (const { variants, most } of words.sort((a, b) => a.postings - b.postings)) {
    if (ranked.keys.length <= few) break;
    addWord(ranked, variants, postingsOf);
    toCome -= most;
    highest += most;
    // Whatever has none of the words so far may still overtake.
    if (highest <= toCome) continue;
    least = Math.max(least, findReached(ranked.ranks, bestAtOnce));
    ranked = selectRanks(ranked, least - toCome - slack, Number.POSITIVE_INFINITY);
  }
  return { keys: ranked.keys, least };
}

/** A rank that so many reach, and few more: ranks are counted in steps, from the highest one down. */
function findReached(ranks: Float64Array, count: number): number {
  let highest = 0;
  for (let index = 0; index < ranks.length; index++)
    if ((ranks[index] as number) > highest) highest = ranks[index] as number;
  if (highest === 0) return 0;
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
