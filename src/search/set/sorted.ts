// Sorted arrays of keys: search, intersection, union and difference. The sets of documents (doc-set.ts) use them.

/** Keys in ascending order, without repetitions. */
export type Keys = Float64Array;

export const noKeys: Keys = new Float64Array();

export function keysOf(numbers: Iterable<number>): Keys {
  return dropRepeats(Float64Array.from(numbers).sort());
}

/** Drops repeated keys from sorted ones. */
export function dropRepeats(keys: Float64Array): Keys {
  let count = 0;
  for (let index = 0; index < keys.length; index++)
    if (index === 0 || keys[index] !== keys[index - 1]) keys[count++] = keys[index] as number;
  return keys.subarray(0, count);
}

/** The index of the first key that is not lower: a binary search. */
export function lowerBound(keys: Float64Array, key: number, from = 0, end = keys.length): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same from an index with a lower key: a galloping search, which finds near keys fast. */
export function gallop(keys: Float64Array, key: number, from: number): number {
  let low = from;
  let step = 1;
  for (; low + step < keys.length && (keys[low + step] as number) < key; step *= 2) low += step;
  return lowerBound(keys, key, low + 1, Math.min(low + step, keys.length));
}

export function hasKey(keys: Keys, key: number): boolean {
  return keys[lowerBound(keys, key)] === key;
}

/** Skips through the longer one, and reads only what is needed to find the keys of the shorter one. */
export function intersection(a: Keys, b: Keys): Keys {
  const common = new Float64Array(Math.min(a.length, b.length));
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const left = a[i] as number;
    const right = b[j] as number;
    if (left < right) i = gallop(a, right, i);
    else if (left > right) j = gallop(b, left, j);
    else {
      common[count++] = left;
      i++;
      j++;
    }
  }
  return common.subarray(0, count);
}

/** Merges neighbours, then the results, until one is left. */
export function union(sets: readonly Keys[]): Keys {
  let left = sets.filter(({ length }) => length > 0);
  while (left.length > 1) {
    const halved: Keys[] = [];
    for (let at = 0; at < left.length; at += 2) halved.push(merge(left[at] as Keys, left[at + 1] ?? noKeys));
    left = halved;
  }
  return left[0] ?? noKeys;
}

function merge(a: Keys, b: Keys): Keys {
  if (b.length === 0) return a;
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

/** The keys of the first set that the second lacks. */
export function difference(a: Keys, b: Keys): Keys {
  if (b.length === 0) return a;
  const left = new Float64Array(a.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.length; i++) {
    const key = a[i] as number;
    if ((b[j] as number) < key) j = gallop(b, key, j);
    if (b[j] !== key) left[count++] = key;
  }
  return left.subarray(0, count);
}

/** Concatenates arrays. Does not copy a single one. */
export function concatenate(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 1 && parts[0]) return parts[0];
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Batches of at most `size`. */
export function* inBatches<T extends { length: number }>(
  keys: T & { slice(start: number, end: number): T; subarray?(start: number, end: number): T },
  size: number,
): Generator<T> {
  for (let start = 0; start < keys.length; start += size)
    yield keys.subarray?.(start, start + size) ?? keys.slice(start, start + size);
}
