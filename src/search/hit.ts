import { compareStanding } from '../rules/discover/order.ts';
import { type Keys, keysOf } from './set/sorted.ts';

/** A resource that was found, and what it is sorted by. It stays with the resource up to the answer. */
export interface Hit {
  key: number;
  rank?: number;
  /** The summed rarity of the words that matched (rules/text/rank.ts); where a place orders, too. */
  band?: number;
  /** Metres, to the geometry that matched. */
  distance?: number;
}

/** In the order of an answer. Equal hits are in the order of keys: of catalogs, and of the resources of each. */
export function sortHits<T extends Hit>(hits: readonly T[]): T[] {
  return [...hits].sort((a, b) => compareStanding(a, b) || a.key - b.key);
}

export function hitsOf(keys: ArrayLike<number>): Hit[] {
  return Array.from(keys, (key) => ({ key }));
}

export function keysOfHits(hits: readonly Hit[]): Keys {
  return keysOf(hits.map(({ key }) => key));
}
