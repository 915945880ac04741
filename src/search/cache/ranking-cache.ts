import { LruCache } from '../../lru-cache.ts';
import { ownText } from '../../own-text.ts';
import type { Ranked } from '../text/rank-keys.ts';
import type { KnownText } from '../text/read-words.ts';

// A cache of the best resources for a text, because the same texts are searched for again and again. An entry is valid while the posting lists that it came from are the same objects,
// which they are until a list changes (caches.ts).

interface Kept {
  /** Held loosely: a list that has changed is not kept in memory for this. */
  sources: readonly WeakRef<object>[];
  documents: number;
  best: Ranked;
}

/** What an entry takes by itself, counted in resources. */
const resourcesOfEntry = 100;
/** Longer texts, in characters, are not cached. */
const maxText = 1_000;

export class RankingCache {
  private readonly kept: LruCache<string, Kept>;

  constructor(maxResources: number) {
    this.kept = new LruCache(maxResources, ({ best }) => best.keys.length + resourcesOfEntry);
  }

  find(text: string, known: KnownText): Ranked | undefined {
    const kept = this.kept.find(text);
    if (kept === undefined) return undefined;
    const sources = sourcesOf(known);
    const isSame =
      kept.documents === known.documents &&
      kept.sources.length === sources.length &&
      sources.every((source, index) => kept.sources[index]?.deref() === source);
    if (isSame) return kept.best;
    this.kept.forget(text);
    return undefined;
  }

  keep(text: string, known: KnownText, best: Ranked): void {
    // Without that list, the resources of catalogs are read from the database, and nothing tells when those change.
    if (known.every === undefined || text.length > maxText) return;
    const sources = sourcesOf(known).map((source) => new WeakRef(source));
    this.kept.keep(ownText(text), { sources, documents: known.documents, best });
  }
}

/** Which offers apply to resources that they name, and the beginning of a list that is too long, are read anew for each search. */
function sourcesOf({ entries, every }: KnownText): object[] {
  const postings = Array.from(entries.values(), (entry) => [entry.postings, entry.offered]);
  return [...postings.flat(), ...(every ? [every] : [])];
}
