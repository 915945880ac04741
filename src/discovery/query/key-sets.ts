import { lowerBound } from '../../storage/key-list.ts';

// Sets of keys as arrays in ascending order.

export type Keys = Float64Array;

export function keysOf(numbers: Iterable<number>): Keys {
  return Float64Array.from(numbers).sort();
}

/** Walks along both, or looks up each key of a much shorter one. */
export function intersection(a: Keys, b: Keys): Keys {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length * muchShorter < long.length) return short.filter((key) => hasKey(long, key));
  const common = new Float64Array(short.length);
  let count = 0;
  for (let i = 0, j = 0; i < short.length && j < long.length; ) {
    const difference = (short[i] as number) - (long[j] as number);
    if (difference === 0) common[count++] = short[i] as number;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return common.subarray(0, count);
}

const muchShorter = 20;

export function union(sets: readonly Keys[]): Keys {
  const all = new Float64Array(sets.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const set of sets) {
    all.set(set, at);
    at += set.length;
  }
  if (sets.length > 1) all.sort();
  let count = 0;
  for (let index = 0; index < all.length; index++) {
    if (index === 0 || all[index] !== all[index - 1]) all[count++] = all[index] as number;
  }
  return all.subarray(0, count);
}

/** What the first has and the second has not. */
export function difference(a: Keys, b: Keys): Keys {
  return b.length === 0 ? a : a.filter((key) => !hasKey(b, key));
}

export function hasKey(keys: Keys, key: number): boolean {
  return keys[lowerBound(keys, key)] === key;
}
