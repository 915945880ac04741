import { LruCache } from '../../lru-cache.ts';
import type { StoredDocument } from '../../rules/discover/page-answer.ts';
import type { PeriodBounds } from '../../rules/time-period.ts';

// An LRU cache of documents as answers list them: resources with their catalogs and the offers on them. It holds only catalogs that no offer of another catalog applies to: then
// only the time decides which offers are listed.

/** A catalog. The same one, and the same offer, is the same document wherever it is listed. */
export interface KnownHome {
  owner: string;
  head: StoredDocument;
  /** Those on all its resources, as many as an answer has room for. */
  offers: readonly KnownOffer[];
  /** How many there are beyond these. */
  more: number;
  resources: ReadonlyMap<number, KnownResource>;
}

export interface KnownResource {
  document: StoredDocument;
  /** Those that name it. */
  offers: readonly KnownOffer[];
  /** How many do beyond these, which would not fit into an answer; such a resource is not kept. */
  more?: number;
  /** The filter that it was tested by last, and selected; a short one. */
  selectedBy?: string;
}

export interface KnownOffer {
  key: number;
  document: StoredDocument;
  validity: PeriodBounds;
}

interface Kept extends KnownHome {
  resources: Map<number, KnownResource>;
  bytes: number;
}

/** What an entry takes beside its text, about. */
const entryBytes = 200;

/** By the keys of the catalogs, tagged with their owners. */
export class PageCache extends LruCache<number, Kept> {
  constructor(maxBytes: number) {
    super(
      maxBytes,
      ({ bytes }) => bytes,
      ({ owner }) => [owner],
    );
  }

  /** Beside the resources of the same catalog that are known already. */
  override keep(catalogKey: number, { resources, ...home }: KnownHome): void {
    const { head: document, offers } = home;
    const opened = { ...home, resources: new Map(), bytes: sizeOf({ document, offers }) };
    const kept: Kept = this.find(catalogKey) ?? opened;
    this.forget(catalogKey); // it is kept again with its new size
    for (const [key, resource] of resources) {
      if (kept.resources.has(key)) continue;
      kept.resources.set(key, resource);
      kept.bytes += sizeOf(resource);
    }
    super.keep(catalogKey, kept);
  }
}

/** An offer that several resources share counts for each: better too much than too little. */
function sizeOf({ document, offers }: KnownResource): number {
  const texts = [document, ...offers.map((offer) => offer.document)];
  return texts.reduce((sum, { text }) => sum + text.length * bytesOfCharacter(text) + entryBytes, 0);
}

/** One character that needs two bytes makes all of a text need them. */
function bytesOfCharacter(text: string): number {
  return Buffer.byteLength(text) === text.length ? 1 : 2;
}
