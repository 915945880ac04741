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

export class PageCache {
  private readonly maxBytes: number;
  private bytes = 0;
  /** By their keys; the last one is the one that was asked for last. */
  private readonly homes = new Map<number, Kept>();
  private readonly homesOf = new Map<string, Set<number>>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  find(catalogKey: number): KnownHome | undefined {
    const home = this.homes.get(catalogKey);
    if (home === undefined) return undefined;
    this.homes.delete(catalogKey);
    this.homes.set(catalogKey, home);
    return home;
  }

  /** Beside the resources of the same catalog that are known already. Those that were not asked for the longest are forgotten. */
  keep(catalogKey: number, { owner, head, offers, more, resources }: KnownHome): void {
    const home = this.homes.get(catalogKey) ?? this.open(catalogKey, { owner, head, offers, more });
    for (const [key, resource] of resources) {
      if (home.resources.has(key)) continue;
      home.resources.set(key, resource);
      this.charge(home, sizeOf(resource));
    }
    for (const oldest of this.homes.keys()) {
      if (this.bytes <= this.maxBytes) break;
      this.forget(oldest);
    }
  }

  forget(catalogKey: number): void {
    const home = this.homes.get(catalogKey);
    if (home === undefined) return;
    this.homes.delete(catalogKey);
    this.homesOf.get(home.owner)?.delete(catalogKey);
    if (this.homesOf.get(home.owner)?.size === 0) this.homesOf.delete(home.owner);
    this.bytes -= home.bytes;
  }

  forgetOwner(owner: string): void {
    for (const catalogKey of this.homesOf.get(owner) ?? []) this.forget(catalogKey);
  }

  clear(): void {
    this.homes.clear();
    this.homesOf.clear();
    this.bytes = 0;
  }

  private open(catalogKey: number, home: Omit<KnownHome, 'resources'>): Kept {
    const opened = { ...home, resources: new Map(), bytes: 0 };
    this.homes.set(catalogKey, opened);
    this.homesOf.set(home.owner, (this.homesOf.get(home.owner) ?? new Set()).add(catalogKey));
    this.charge(opened, sizeOf({ document: home.head, offers: home.offers }));
    return opened;
  }

  private charge(home: Kept, bytes: number): void {
    home.bytes += bytes;
    this.bytes += bytes;
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
