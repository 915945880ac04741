import { compareStanding } from '../rules/discover/order.ts';
import { type Keys, keysOf } from './set/sorted.ts';

/** A resource that was found, with its sort keys. They stay with it up to the answer. */
export interface Hit {
  key: number;
  rank?: number;
  /** The summed rarity of the matched words (rules/text/rank.ts), if the order also depends on a place. */
  band?: number;
  /** Metres to the geometry that matched. */
  distance?: number;
}

/** In the order of an answer. Equal hits are in key order: by catalog, then by resource. */
export function sortHits<T extends Hit>(hits: readonly T[]): T[] {
  return [...hits].sort((a, b) => compareStanding(a, b) || a.key - b.key);
}

export function hitsOf(keys: ArrayLike<number>): Hit[] {
  return Array.from(keys, (key) => ({ key }));
}

export function keysOfHits(hits: readonly Hit[]): Keys {
  return keysOf(hits.map(({ key }) => key));
}
