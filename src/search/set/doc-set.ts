import { concatenate, type Keys, noKeys, union } from './sorted.ts';

/**
 * Documents in ascending order of keys: the one interface of everything that a search intersects, like tantivy's `DocSet`. Posting lists, ranges of a column, the resources of catalogs, the
 * resources that offers cover, scopes, unions, intersections and checks are sets that compose. They work in batches, because single keys are too slow in JavaScript, and each seek would be
 * a round trip to the database.
 *
 * - `next` returns keys in ascending order, without repetitions, each above all earlier ones; never an empty array. Undefined: there are no more, also in later calls.
 * - `next` returns about `limit` keys: fewer or more if that is simpler.
 * - `among` returns those of the given keys (in ascending order) that are in the set. It does not move `next`, and may be called at any time.
 * - `estimate` is the approximate number of keys: 0 only for an empty set. An intersection begins with the lowest.
 *
 * doc-set.test.ts tests all of them.
 */
export interface DocSet {
  readonly estimate: number;
  next(limit: number): Promise<Keys | undefined>;
  among(keys: Keys): Promise<Keys>;
}

const emptySet: DocSet = { estimate: 0, next: async () => undefined, among: async () => noKeys };

export function unionOf(sets: readonly DocSet[]): DocSet {
  const [only, ...others] = sets;
  if (others.length === 0) return only ?? emptySet;
  /** Keys of each set that were read but not returned yet; undefined: it has no more. */
  const pending: (Keys | undefined)[] = sets.map(() => noKeys);
  return {
    estimate: sets.reduce((sum, { estimate }) => sum + estimate, 0),
    async next(limit) {
      await Promise.all(
        sets.map(async (set, index) => {
          if (pending[index]?.length === 0) pending[index] = await set.next(limit);
        }),
      );
      // Beyond the lowest last key, one of the sets may have more.
      const bound = Math.min(...pending.map((keys) => keys?.at(-1) ?? Number.POSITIVE_INFINITY));
      if (bound === Number.POSITIVE_INFINITY) return undefined;
      const ready = pending.flatMap((keys, index) => {
        if (keys === undefined) return [];
        let end = 0;
        while (end < keys.length && (keys[end] as number) <= bound) end++;
        pending[index] = keys.subarray(end);
        return [keys.subarray(0, end)];
      });
      return union(ready);
    },
    among: async (keys) => union(await Promise.all(sets.map((set) => set.among(keys)))),
  };
}

/** The set with the lowest estimate leads; the others check its keys. */
export function intersectionOf(sets: readonly DocSet[]): DocSet {
  const [lead, ...others] = [...sets].sort((a, b) => a.estimate - b.estimate);
  if (lead === undefined || others.length === 0) return lead ?? emptySet;
  return checkedBy(lead, async (keys) => {
    let left = keys;
    for (const set of others) {
      if (left.length === 0) break;
      left = await set.among(left);
    }
    return left;
  });
}

/** Reads until something is left of a batch. Undefined: there are no more. */
export async function nextLeft<T>(
  next: () => Promise<T | undefined>,
  select: (batch: T) => Keys | Promise<Keys>,
) {
  for (let batch = await next(); batch !== undefined; batch = await next()) {
    const keys = await select(batch);
    if (keys.length > 0) return keys;
  }
  return undefined;
}

/** The keys of a set that pass a check, in their order. If fewer than half of `limit` pass, reads more, as the pass rate suggests. */
export function checkedBy(set: DocSet, check: (keys: Keys) => Promise<Keys>): DocSet {
  return {
    estimate: set.estimate,
    async next(limit) {
      const passed: Keys[] = [];
      let [read, count] = [0, 0];
      while (count < limit / 2) {
        const wanted = Math.ceil(((limit - count) * read) / Math.max(count, 1));
        const keys = await set.next(Math.max(limit, Math.min(wanted, mostAtOnce)));
        if (keys === undefined) break;
        const found = await check(keys);
        passed.push(found);
        read += keys.length;
        count += found.length;
      }
      return count > 0 ? concatenate(passed) : undefined;
    },
    among: async (keys) => {
      const found = await set.among(keys);
      return found.length === 0 ? found : check(found);
    },
  };
}

/** Keys: some milliseconds of work. */
const mostAtOnce = 20_000;

/** All keys of a set, or undefined if there are more than `atMost`. */
export async function readAll(set: DocSet, atMost = Number.POSITIVE_INFINITY): Promise<Keys | undefined> {
  const batches: Keys[] = [];
  let count = 0;
  for (let keys = await set.next(mostAtOnce); keys; keys = await set.next(mostAtOnce)) {
    batches.push(keys);
    count += keys.length;
    if (count > atMost) return undefined;
  }
  return concatenate(batches);
}
