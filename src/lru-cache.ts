/**
 * An LRU cache with a limit on the sum of its values' sizes. It approximates the order of use by second chance (CLOCK): a hit only marks an entry. An
 * eviction takes the oldest unmarked entry; marked entries are moved to the end once.
 */
export class LruCache<K, V> {
  private readonly maxSize: number;
  private readonly sizeOf: (value: V) => number;
  private size = 0;
  /** The first entry is the next candidate for eviction. */
  private readonly kept = new Map<K, { value: V; isAsked: boolean }>();

  /** The size of a value must not change while it is kept. */
  constructor(maxSize: number, sizeOf: (value: V) => number = () => 1) {
    this.maxSize = maxSize;
    this.sizeOf = sizeOf;
  }

  find(key: K): V | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    found.isAsked = true;
    return found.value;
  }

  /** Keeps a value, unless it is larger than the whole cache. */
  keep(key: K, value: V): void {
    this.forget(key);
    const size = this.sizeOf(value);
    if (size > this.maxSize) return;
    if (this.size + size > this.maxSize) this.makeRoom(size);
    this.kept.set(key, { value, isAsked: false });
    this.size += size;
  }

  forget(key: K): void {
    const found = this.kept.get(key);
    if (found === undefined) return;
    this.size -= this.sizeOf(found.value);
    this.kept.delete(key);
  }

  *entries(): Generator<[K, V]> {
    for (const [key, { value }] of this.kept) yield [key, value];
  }

  clear(): void {
    this.kept.clear();
    this.size = 0;
  }

  private makeRoom(size: number): void {
    const upTo = this.maxSize - Math.max(size, this.maxSize * leastRoom);
    let spared = 0;
    for (const [key, first] of this.kept) {
      if (this.size <= upTo) return;
      if (first.isAsked && spared < maxSpared) {
        spared++;
        first.isAsked = false;
        this.kept.delete(key);
        this.kept.set(key, first);
      } else this.forget(key);
    }
  }
}

/** Evicts this share at once: finding the first entry of a Map is slow after many deletions at its start. */
const leastRoom = 1 / 100;
/** Moving this many entries to the end takes some milliseconds. */
const maxSpared = 10_000;
