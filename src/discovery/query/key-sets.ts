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

/** Neighbours are put together, and what comes of that, until one is left. */
export function union(sets: readonly Keys[]): Keys {
  let left = sets;
  while (left.length > 1) {
    const halved: Keys[] = [];
    for (let at = 0; at < left.length; at += 2) halved.push(merged(left[at] as Keys, left[at + 1] ?? noKeys));
    left = halved;
  }
  return left[0] ?? noKeys;
}

const noKeys: Keys = new Float64Array();

function merged(a: Keys, b: Keys): Keys {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const both = new Float64Array(a.length + b.length);
  let [i, j, count] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const difference = (a[i] as number) - (b[j] as number);
    both[count++] = (difference <= 0 ? a[i] : b[j]) as number;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  both.set(i < a.length ? a.subarray(i) : b.subarray(j), count);
  return both.subarray(0, count + (a.length - i) + (b.length - j));
}

/** Keys in any order, some perhaps twice. */
export function setOf(keys: Keys): Keys {
  const set = keys.slice().sort();
  let count = 0;
  for (let index = 0; index < set.length; index++) {
    if (index === 0 || set[index] !== set[index - 1]) set[count++] = set[index] as number;
  }
  return set.subarray(0, count);
}

/** What the first has and the second has not. */
export function difference(a: Keys, b: Keys): Keys {
  return b.length === 0 ? a : a.filter((key) => !hasKey(b, key));
}

export function hasKey(keys: Keys, key: number): boolean {
  return keys[lowerBound(keys, key)] === key;
}
