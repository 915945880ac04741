import type { NumberList } from '../../storage/number-list.ts';
import { type Keys, setOf } from './key-sets.ts';

// Ranges of numbers in the order of their keys: the same ones are asked for again and again, and to put ten thousand keys in order takes longer than
// all else. One holds as long as the list that it was cut from is the same object, which it is until it changes (storage/index-memory.ts).

interface Kept {
  /** Held loosely: a list that has changed is not kept in memory for this. */
  list: WeakRef<NumberList>;
  set: Keys;
}

/** Eight bytes each; an entry takes as much as some. */
const maxKeys = 4_000_000;
const keysOfEntry = 50;

export class RangeMemory {
  /** The last one is the one that was asked for last. */
  private readonly kept = new Map<string, Kept>();
  private keyCount = 0;

  /** The keys of a part of a list, each once: below arrays, one resource may have several numbers at a path. */
  inOrder(path: number, list: NumberList, start: number, end: number): Keys {
    const name = `${path} ${start} ${end}`;
    const known = this.kept.get(name);
    const set = known?.list.deref() === list ? known.set : setOf(list.keys.subarray(start, end));
    this.forget(name);
    this.kept.set(name, { list: new WeakRef(list), set });
    this.keyCount += set.length + keysOfEntry;
    for (const oldest of this.kept.keys()) {
      if (this.keyCount <= maxKeys) break;
      this.forget(oldest);
    }
    return set;
  }

  private forget(name: string): void {
    const kept = this.kept.get(name);
    if (kept) this.keyCount -= kept.set.length + keysOfEntry;
    this.kept.delete(name);
  }
}
