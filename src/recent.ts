/** What was asked for lately: when it becomes too much, what was not asked for the longest goes first. */
export class Recent<K, V> {
  private readonly maxSize: number;
  private readonly sizeOf: (value: V) => number;
  private size = 0;
  /** The last one is the one that was asked for last. */
  private readonly kept = new Map<K, V>();

  constructor(maxSize: number, sizeOf: (value: V) => number = () => 1) {
    this.maxSize = maxSize;
    this.sizeOf = sizeOf;
  }

  get count(): number {
    return this.kept.size;
  }

  find(key: K): V | undefined {
    const value = this.kept.get(key);
    if (value === undefined) return undefined;
    this.kept.delete(key);
    this.kept.set(key, value);
    return value;
  }

  keep(key: K, value: V): void {
    this.forget(key);
    this.kept.set(key, value);
    this.size += this.sizeOf(value);
    for (const oldest of this.kept.keys()) {
      if (this.size <= this.maxSize) break;
      this.forget(oldest);
    }
  }

  forget(key: K): void {
    const value = this.kept.get(key);
    if (value === undefined) return;
    this.size -= this.sizeOf(value);
    this.kept.delete(key);
  }

  entries(): IterableIterator<[K, V]> {
    return this.kept.entries();
  }

  clear(): void {
    this.kept.clear();
    this.size = 0;
  }
}
