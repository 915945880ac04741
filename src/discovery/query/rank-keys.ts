import type { TextQuery } from '../../rules/text/rank.ts';
import { kindOf, lastNumbers } from '../../storage/discovery-keys.ts';
import type { Postings } from '../../storage/discovery-postings.ts';

// The ranks of many resources at once, from where words stand: rules/text/rank.ts over sorted lists instead of documents. Ten thousand
// resources and a handful of words are ranked in a few milliseconds, because both lists are walked along once.

/** Where a word stands: postings in the order of keys, and resources by what is said of their offers. */
export interface WordPlaces extends Postings {
  offered: ReadonlyMap<number, number>;
}

/** The ranks of resources, whose keys are in order; 0 where none of the words stands. */
export function rankKeys(
  query: TextQuery,
  keys: readonly number[],
  placesOf: (word: string) => WordPlaces | undefined,
): Float64Array {
  const ranks = new Float64Array(keys.length);
  const best = new Float64Array(keys.length);
  for (const { variants } of query.words) {
    best.fill(0);
    for (const { word, weight } of variants) {
      const places = placesOf(word);
      if (places) raise(best, keys, places, weight);
    }
    for (let index = 0; index < ranks.length; index++)
      ranks[index] = (ranks[index] ?? 0) + (best[index] ?? 0);
  }
  return ranks.map((rank) => Math.round(rank * rankPrecision) / rankPrecision);
}

/** Sums of doubles depend on their order in the last digits; equal ranks shall be equal (rules/text/rank.ts). */
const rankPrecision = 1_000_000_000;

function raise(best: Float64Array, keys: readonly number[], places: WordPlaces, weight: number): void {
  const count = (index: number, hundredths: number) => {
    best[index] = Math.max(best[index] ?? 0, weight * (hundredths / 100));
  };
  let index = 0;
  for (const [place, at] of places.keys.entries()) {
    const hundredths = places.weights[place] ?? 0;
    while (index < keys.length && (keys[index] ?? 0) < at) index++;
    if (keys[index] === at) count(index, hundredths);
    else if (kindOf(at) === 'catalog') {
      // What is said of a catalog is said of all its resources.
      const end = at + lastNumbers.resource;
      for (let own = index; own < keys.length && (keys[own] ?? 0) <= end; own++) count(own, hundredths);
    }
  }
  for (const [key, hundredths] of places.offered) {
    const own = indexOf(keys, key);
    if (own !== undefined) count(own, hundredths);
  }
}

function indexOf(keys: readonly number[], key: number): number | undefined {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return keys[low] === key ? low : undefined;
}
