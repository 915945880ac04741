import type { TextQuery } from '../../rules/text/rank.ts';
import { type Keys, setOf } from '../lists/key-sets.ts';
import { lowerBound } from '../lists/posting-list.ts';
import type { WholeList } from '../lists/read-whole.ts';
import { addWord, type PlacesOf, type Ranked, rankKeys, within } from './rank-keys.ts';

// Resources in the order of their ranks, without ranking more of them to the last word, or putting more in order, than are looked at.

export interface BestFirst {
  best: Ranked;
  /** All others. As a rule nobody asks for them, and they are never ranked. */
  rankOthers(): Ranked;
}

export function bestFirst(query: TextQuery, keys: Keys, placesOf: PlacesOf): BestFirst {
  const likely = findLikely(query, keys, placesOf);
  const ranked = rankKeys(query, likely.keys, placesOf);
  const least = Math.max(likely.least, findReached(ranked.ranks, bestAtOnce));
  return {
    best: inOrderOfRanks(within(ranked, least, Number.POSITIVE_INFINITY)),
    rankOthers: () => inOrderOfRanks(within(rankKeys(query, keys, placesOf), 0, least)),
  };
}

export const bestAtOnce = 1_200;
/** So many are ranked rather than looked through for those that are likely. */
const few = 3 * bestAtOnce;

/**
 * A rank that enough reach, and keys among which are all that reach it. The rarest words are looked for first, and what could not reach it with all
 * others is left out: so that the words that stand nearly everywhere are looked for in few resources.
 */
function findLikely(query: TextQuery, keys: Keys, placesOf: PlacesOf): { keys: Keys; least: number } {
  const words = query.words.map(({ variants }) => ({
    variants,
    most: Math.max(0, ...variants.map(({ weight }) => weight)),
    places: variants.reduce((sum, { word }) => sum + placeCount(placesOf(word)), 0),
  }));
  let ranked: Ranked = { keys, ranks: new Float64Array(keys.length) };
  let least = 0;
  let highest = 0;
  let toCome = words.reduce((sum, { most }) => sum + most, 0);
  for (const { variants, most } of words.sort((a, b) => a.places - b.places)) {
    if (ranked.keys.length <= few) break;
    addWord(ranked, variants, placesOf);
    toCome -= most;
    highest += most;
    // Whatever has none of the words so far may still overtake.
    if (highest <= toCome) continue;
    least = Math.max(least, findReached(ranked.ranks, bestAtOnce));
    ranked = within(ranked, least - toCome - slack, Number.POSITIVE_INFINITY);
  }
  return { keys: ranked.keys, least };
}

function placeCount(lists: readonly WholeList[]): number {
  return lists.reduce((sum, { heads, others }) => sum + heads.keys.length + others.keys.length, 0);
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

/** Ranks are few: each gets its range of places in the order. Equal ones stay in the order of keys. */
function inOrderOfRanks({ keys, ranks }: Ranked): Ranked {
  const levels = setOf(ranks);
  const starts = new Uint32Array(levels.length + 1);
  const levelOf = new Uint32Array(ranks.length);
  for (let index = 0; index < ranks.length; index++) {
    const level = levels.length - 1 - lowerBound(levels, ranks[index] as number);
    levelOf[index] = level;
    starts[level + 1] = (starts[level + 1] as number) + 1;
  }
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
