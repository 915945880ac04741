import { LruCache } from '../../lru-cache.ts';
import { type Keys, setOf } from '../lists/key-sets.ts';
import type { NumberList } from '../lists/number-list.ts';

// A cache of ranges of a number list, sorted by key: to sort ten thousand keys takes longer than the rest of a search. An entry is valid while the list that it was cut from is the same
// object, which it is until the list changes (caches.ts).

interface Kept {
  /** Held loosely: a list that has changed is not kept in memory for this. */
  list: WeakRef<NumberList>;
  set: Keys;
}

/** What an entry takes by itself, counted in keys. */
const keysOfEntry = 50;

export class RangeCache {
  private readonly kept: LruCache<string, Kept>;

  constructor(maxKeys: number) {
    this.kept = new LruCache(maxKeys, ({ set }) => set.length + keysOfEntry);
  }

  /** The keys of a part of a list, each once: below arrays, one resource may have several numbers at a path. */
  inOrder(path: number, list: NumberList, start: number, end: number): Keys {
    const name = `${path} ${start} ${end}`;
    const known = this.kept.find(name);
    if (known?.list.deref() === list) return known.set;
    const set = setOf(list.keys.subarray(start, end));
    this.kept.keep(name, { list: new WeakRef(list), set });
    return set;
  }
}
