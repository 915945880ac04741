import { lowerBound, seek } from './posting-list.ts';

// Sorted sets of keys as typed arrays, with intersection, union and difference.

export type Keys = Float64Array;

export function keysOf(numbers: Iterable<number>): Keys {
  return Float64Array.from(numbers).sort();
}

/** Of the longer one, no more is looked at than is needed to find the keys of the shorter one. */
export function intersection(a: Keys, b: Keys): Keys {
  const common = new Float64Array(Math.min(a.length, b.length));
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] as number;
    const right = b[j] as number;
    if (left < right) i = seek(a, right, i);
    else if (left > right) j = seek(b, left, j);
    else {
      common[count++] = left;
      i++;
      j++;
    }
  }
  return common.subarray(0, count);
}

/** Neighbours are put together, and what comes of that, until one is left. */
export function union(sets: readonly Keys[]): Keys {
  let left = sets;
  while (left.length > 1) {
    const halved: Keys[] = [];
    for (let at = 0; at < left.length; at += 2) halved.push(merge(left[at] as Keys, left[at + 1] ?? noKeys));
    left = halved;
  }
  return left[0] ?? noKeys;
}

const noKeys: Keys = new Float64Array();

function merge(a: Keys, b: Keys): Keys {
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
  if (b.length === 0) return a;
  const left = new Float64Array(a.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.length; i++) {
    const key = a[i] as number;
    if ((b[j] as number) < key) j = seek(b, key, j);
    if (b[j] !== key) left[count++] = key;
  }
  return left.subarray(0, count);
}

/** Whether all of some sets have a key, for thousands of keys in any order: tables of bits, by a hash of the key, reject most of them without a search. */
export function prepareLookup(sets: readonly Keys[]): (key: number) => boolean {
  const tables = sets.map((set) => {
    const bits = Math.max(5, Math.ceil(Math.log2(set.length + 1)) + 4);
    const table = new Uint32Array(2 ** (bits - 5));
    for (let index = 0; index < set.length; index++) {
      const at = hash(set[index] as number) >>> (32 - bits);
      table[at >>> 5] = (table[at >>> 5] as number) | (1 << (at & 31));
    }
    return { set, bits, table };
  });
  return (key) => {
    const mixed = hash(key);
    for (const { set, bits, table } of tables) {
      const at = mixed >>> (32 - bits);
      if (((table[at >>> 5] as number) & (1 << (at & 31))) === 0 || !hasKey(set, key)) return false;
    }
    return true;
  };
}

function hash(key: number): number {
  return Math.imul(key ^ Math.imul(key / 2 ** 32, 0x85ebca6b), 0x9e3779b1);
}

export function hasKey(keys: Keys, key: number): boolean {
  return keys[lowerBound(keys, key)] === key;
}
