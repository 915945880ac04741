import { LruCache } from '../../lru-cache.ts';

interface Kept<V> {
  /** Held loosely: a list that has changed is not kept in memory for this. */
  sources: readonly WeakRef<object>[];
  value: V;
}

/**
 * A cache of values that were derived from cached lists, and perhaps from other objects. A value is valid while its sources are the same objects, which a
 * list is until it changes (caches.ts).
 */
export class DerivedCache<K, V> {
  private readonly kept: LruCache<K, Kept<V>>;

  constructor(maxSize: number, sizeOf: (value: V) => number) {
    this.kept = new LruCache(maxSize, ({ value }) => sizeOf(value));
  }

  find(key: K, sources: readonly object[]): V | undefined {
    const kept = this.kept.find(key);
    const isValid =
      kept?.sources.length === sources.length &&
      sources.every((source, index) => kept.sources[index]?.deref() === source);
    return isValid ? kept.value : undefined;
  }

  keep(key: K, sources: readonly object[], value: V): void {
    this.kept.keep(key, { sources: sources.map((source) => new WeakRef(source)), value });
  }

  clear(): void {
    this.kept.clear();
  }
}
