import { addToSet, deleteFromSet } from '../../group.ts';
import { LruCache } from '../../lru-cache.ts';
import type { Scope } from '../documents/scope.ts';
import { type Listing, listOffers, type ProviderOffers } from '../documents/wide-offers.ts';

// A cache of the wide offers of providers. An offer that was written invalidates all providers of its owner; a catalog that was written, the providers that it played a part for.
// Which provider a changed catalog belongs to now is read before the cache is used again.

export interface ProviderName {
  owner: string;
  providerId: string;
}

export interface KnownProvider extends ProviderOffers {
  /** Whether nothing of it begins or ends to be valid: then its listings are cached. */
  isTimeless: boolean;
  /** By the network that was asked for. */
  listings: Map<string | undefined, Listing[]>;
}

/** More changed catalogs are not looked up: then the whole cache is invalidated. */
const maxUnread = 5_000;
/** Networks that are made up must not fill the memory. */
const maxListings = 10;
/** What a provider without offers takes, counted in offers. */
const providerSize = 20;

export class ProviderCache {
  /** Catalogs that were written, and whose providers were not looked up since. */
  readonly unread = new Set<number>();
  private readonly providers: LruCache<string, KnownProvider>;
  /** The names of the providers that are kept. */
  private readonly namesOfCatalog = new Map<number, Set<string>>();
  private readonly namesOfOwner = new Map<string, Set<string>>();

  constructor(maxOffers: number) {
    this.providers = new LruCache(maxOffers, sizeOf, (text, { states }) => {
      const [owner]: [string] = JSON.parse(text);
      deleteFromSet(this.namesOfOwner, owner, text);
      for (const key of states.keys()) deleteFromSet(this.namesOfCatalog, key, text);
    });
  }

  find(name: ProviderName): KnownProvider | undefined {
    return this.providers.find(nameOf(name));
  }

  keep(name: ProviderName, provider: KnownProvider): void {
    const text = nameOf(name);
    if (!this.providers.keep(text, provider)) return;
    addToSet(this.namesOfOwner, name.owner, text);
    for (const key of provider.states.keys()) addToSet(this.namesOfCatalog, key, text);
  }

  noteChanged(catalogKey: number): void {
    for (const name of this.namesOfCatalog.get(catalogKey) ?? []) this.providers.forget(name);
    if (this.providers.count > 0) this.unread.add(catalogKey);
    if (this.unread.size > maxUnread) this.clear();
  }

  forget(name: ProviderName): void {
    this.providers.forget(nameOf(name));
  }

  forgetOwner(owner: string): void {
    for (const name of this.namesOfOwner.get(owner) ?? []) this.providers.forget(name);
  }

  clear(): void {
    this.providers.clear();
    this.unread.clear();
    this.namesOfCatalog.clear();
    this.namesOfOwner.clear();
  }
}

function sizeOf({ keys, rivals, states }: KnownProvider): number {
  const ofRivals = rivals.reduce((sum, { homes }) => sum + homes.length + 1, 0);
  // Its listings take as much again.
  return 2 * (keys.length + ofRivals) + providerSize * (states.size + 1);
}

export function nameOf({ owner, providerId }: ProviderName): string {
  return JSON.stringify([owner, providerId]);
}

/** The same objects as before where nothing can have changed: what was made of them holds as well. */
export function listingsOf(provider: KnownProvider, scope: Pick<Scope, 'now' | 'networkId'>): Listing[] {
  const known = provider.listings.get(scope.networkId);
  if (known) return known;
  const listings = listOffers(provider, scope);
  if (!provider.isTimeless) return listings;
  if (provider.listings.size >= maxListings) provider.listings.clear();
  provider.listings.set(scope.networkId, listings);
  return listings;
}
