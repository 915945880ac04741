import { LruCache } from '../../lru-cache.ts';
import type { Listing } from '../documents/wide-offers.ts';
import type { KeyList } from '../lists/posting-list.ts';
import type { WholeList } from '../lists/read-whole.ts';
import type { ProviderName } from './provider-cache.ts';

// A cache of the offers that a word stands in, divided: offers that name resources, and wide offers by provider. An entry is valid until the posting list of the word changes, or one of the
// owners has written an offer.

export interface OfferedWord {
  /** Which it was made of. */
  list: KeyList;
  named: KeyList;
  wide: readonly WideOffers[];
  owners: ReadonlySet<string>;
  /** What came of it last, and from which listings: from the same ones comes the same. */
  last?: { listings: readonly Listing[]; postings: WholeList };
  /** The resources that named offers led to last. */
  covered?: CoveredPostings;
}

/** They hold while the index is as it was, in the same network, until an offer or a catalog begins or ends to be valid. */
interface CoveredPostings {
  /** Of the caches (caches.ts). */
  generation: number;
  networkId: string | undefined;
  /** Milliseconds since the epoch. */
  from: number;
  until: number;
  postings: KeyList;
}

/** Offers of one provider, those with the highest weights first. */
export interface WideOffers {
  provider: ProviderName;
  keys: Float64Array;
  weights: Uint8Array;
}

/** What a word takes by itself, counted in offers. */
const wordSize = 100;

export class OfferWordCache {
  private readonly words: LruCache<number, OfferedWord>;

  constructor(maxOffers: number) {
    this.words = new LruCache(maxOffers, ({ list }) => 2 * list.keys.length + wordSize);
  }

  /** By the number of the word's list. */
  find(number: number, list: KeyList): OfferedWord | undefined {
    const word = this.words.find(number);
    return word?.list === list ? word : undefined;
  }

  keep(number: number, word: OfferedWord): void {
    this.words.keep(number, word);
  }

  forgetOwner(owner: string): void {
    for (const [number, { owners }] of this.words.entries()) if (owners.has(owner)) this.words.forget(number);
  }

  clear(): void {
    this.words.clear();
  }
}
