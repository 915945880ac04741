import { ownText } from '../../own-text.ts';
import type { Ranked } from './rank-keys.ts';
import type { KnownText } from './text-words.ts';

// The first resources of rankings, by their texts: the same sentences are searched for again and again. A ranking holds as long as the lists that it
// came from are the same objects, which they are until they change (storage/index-memory.ts).

interface Kept {
  /** Held loosely: a list that has changed is not kept in memory for this. */
  sources: readonly WeakRef<object>[];
  documents: number;
  best: Ranked;
}

/** Sixteen bytes each; an entry takes as much as some. */
const maxResources = 2_000_000;
const resourcesOfEntry = 100;
/** Characters. */
const maxText = 1_000;

export class RankingMemory {
  /** The last one is the one that was asked for last. */
  private readonly kept = new Map<string, Kept>();
  private count = 0;

  find(text: string, known: KnownText): Ranked | undefined {
    const kept = this.kept.get(text);
    // What a catalog's resources are is then read from the database, and no list tells when that changes.
    if (kept === undefined || known.every === undefined) return undefined;
    const sources = sourcesOf(known);
    const isSame =
      kept.documents === known.documents &&
      kept.sources.length === sources.length &&
      sources.every((source, index) => kept.sources[index]?.deref() === source);
    this.forget(text);
    if (!isSame) return undefined;
    this.put(text, kept);
    return kept.best;
  }

  keep(text: string, known: KnownText, best: Ranked): void {
    if (known.every === undefined || text.length > maxText) return;
    const sources = sourcesOf(known).map((source) => new WeakRef(source));
    this.forget(text);
    this.put(ownText(text), { sources, documents: known.documents, best });
    for (const oldest of this.kept.keys()) {
      if (this.count <= maxResources) break;
      this.forget(oldest);
    }
  }

  private put(text: string, kept: Kept): void {
    this.kept.set(text, kept);
    this.count += sizeOf(kept);
  }

  private forget(text: string): void {
    const kept = this.kept.get(text);
    if (kept) this.count -= sizeOf(kept);
    this.kept.delete(text);
  }
}

function sizeOf({ best }: Kept): number {
  return best.keys.length + resourcesOfEntry;
}

/** Which offers apply, and the beginning of a list that is too long, are read anew for each search. */
function sourcesOf({ entries, every }: KnownText): object[] {
  const places = Array.from(entries.values(), (entry) => [entry.places, entry.offered]);
  return [...places.flat(), ...(every ? [every] : [])];
}
