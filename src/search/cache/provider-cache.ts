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

/** By the names of the providers (nameOf), tagged with their owners and with the catalogs that play a part for them. */
export class ProviderCache extends LruCache<string, KnownProvider> {
  /** Catalogs that were written, and whose providers were not looked up since. */
  readonly unread = new Set<number>();

  constructor(maxOffers: number) {
    super(maxOffers, sizeOf, ({ states }, name) => [JSON.parse(name)[0], ...states.keys()]);
  }

  noteChanged(catalogKey: number): void {
    this.forgetTagged(catalogKey);
    if (this.count > 0) this.unread.add(catalogKey);
    if (this.unread.size > maxUnread) this.clear();
  }

  override clear(): void {
    super.clear();
    this.unread.clear();
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
