import { roundRank, type TextQuery } from '../../rules/text/rank.ts';
import { headOf } from '../../storage/discovery-keys.ts';
import type { WholeList } from '../../storage/discovery-whole-lists.ts';
import { type KeyList, lowerBound } from '../../storage/key-list.ts';
import type { Keys } from './key-sets.ts';

// The ranks of many resources at once, from where words stand: rules/text/rank.ts over sorted lists instead of documents. Ten thousand
// resources and a handful of words are ranked in a few milliseconds, because both are walked along once.

/** The ranks of resources, whose keys are in order; 0 where none of the words stands. */
export function rankKeys(
  query: TextQuery,
  keys: Keys,
  /** Where a word stands, in resources and in what is said of catalogs; several lists count as one. */
  placesOf: (word: string) => readonly WholeList[],
): Float64Array {
  const catalogs = keys.map(headOf);
  const ranks = new Float64Array(keys.length);
  const best = new Float64Array(keys.length);
  for (const { variants } of query.words) {
    best.fill(0);
    for (const { word, weight } of variants) {
      for (const { heads, others } of placesOf(word)) {
        raise(best, keys, others, weight);
        // What is said of a catalog is said of all its resources.
        raise(best, catalogs, heads, weight);
      }
    }
    for (let index = 0; index < ranks.length; index++) {
      ranks[index] = (ranks[index] as number) + (best[index] as number);
    }
  }
  for (let index = 0; index < ranks.length; index++) {
    ranks[index] = roundRank(ranks[index] as number);
  }
  return ranks;
}

/** Where one of the places is one of the keys, it counts so much there. */
function raise(best: Float64Array, keys: Keys, places: KeyList, weight: number): void {
  const isOfFew = keys.length * muchFewer < places.keys.length;
  (isOfFew ? raiseFew : raiseAlong)(best, keys, places, weight);
}

const muchFewer = 20;

/** No calls, no objects: it looks at every place. */
function raiseAlong(
  best: Float64Array,
  keys: Keys,
  { keys: places, weights }: KeyList,
  weight: number,
): void {
  let place = 0;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    while (place < places.length && (places[place] as number) < key) place++;
    if (place === places.length) return;
    if (places[place] !== key) continue;
    const counts = weight * ((weights[place] as number) / 100);
    if (counts > (best[index] as number)) best[index] = counts;
  }
}

/** Each of few keys is looked for by itself. */
function raiseFew(best: Float64Array, keys: Keys, { keys: places, weights }: KeyList, weight: number): void {
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number;
    const place = lowerBound(places, key);
    if (places[place] !== key) continue;
    best[index] = Math.max(best[index] as number, weight * ((weights[place] as number) / 100));
  }
}
