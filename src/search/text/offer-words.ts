import { addTo } from '../../group.ts';
import type { IndexReader } from '../cache/caches.ts';
import { nameOf, type ProviderName } from '../cache/provider-cache.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import { type DividedOffers, divideOffers, findBestAmong, findBestCovered } from '../documents/offers.ts';
import { findHomes, findListings, readListings } from '../documents/read-wide-offers.ts';
import { findFirst, type Listing } from '../documents/wide-offers.ts';
import { sortRows } from '../lists/columns.ts';
import { intersection, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList, lowerBound, sortPostings, type WholeList } from '../lists/posting-list.ts';

// The postings of words in offers. An offer that names resources leads to those; a wide offer leads to the heads of the catalogs that list it, as a word of the catalog does.

/** The offers that a word stands in, divided: those that name resources, and wide ones by provider. */
interface OfferedWord {
  named: KeyList;
  wide: readonly WideOffers[];
}

/** Offers of one provider, those with the highest weights first. */
interface WideOffers extends KeyList {
  provider: ProviderName;
}

/** By the words' numbers; `lists` are the offers that each of them stands in. */
export async function findOffered(
  { database, deadline, plan: { scope } }: Search,
  lists: ReadonlyMap<number, KeyList>,
): Promise<Map<number, WholeList>> {
  const words = await divideLists(database, lists);
  const providers = new Map(
    [...words.values()].flatMap(({ wide }) => wide.map(({ provider }) => [nameOf(provider), provider])),
  );
  const listings =
    providers.size === 0
      ? new Map<string, Listing[]>()
      : await readListings(database, [...providers.values()], scope);
  const named = new Map(
    Array.from(words, ([id, word]) => [id, word.named] as const).filter(([, { keys }]) => keys.length > 0),
  );
  const covered = named.size === 0 ? named : await findBestCovered(database, named, scope);
  return new Map(
    Array.from(words, ([id, word]) => {
      deadline.check();
      return [id, { heads: findHeads(word, listings), others: covered.get(id) ?? emptyList }];
    }),
  );
}

/** The other way round, for words that stand in very many offers: which of some resources have an offer with them that applies now, by the words' numbers. */
export async function findOfferedAmong(
  { database, plan: { scope } }: Search,
  lists: ReadonlyMap<number, KeyList>,
  keys: Keys,
): Promise<Map<number, WholeList>> {
  if (lists.size === 0 || keys.length === 0) return new Map();
  const named = await findBestAmong(database, keys, lists, scope);
  const homes = new Map<Listing, number[]>();
  const listings = await findListings(database, new Set(Array.from(keys, catalogKeyOf)), scope);
  for (const [home, listing] of listings) addTo(homes, listing, home);
  return new Map(
    Array.from(lists, ([id, list]) => [
      id,
      { heads: findHeadsAmong(homes, list), others: named.get(id) ?? emptyList },
    ]),
  );
}

/** The heads of those catalogs that list one of some offers. */
function findHeadsAmong(homes: ReadonlyMap<Listing, readonly number[]>, offers: KeyList): KeyList {
  const heads = Array.from(homes).flatMap(([listing, theirs]) => {
    const own = theirs.flatMap((home) => listing.departures.get(home)?.own ?? []);
    const listed = sortByWeight(pickWeights(offers, union([listing.common, keysOf(own)])));
    if (listed.keys.length === 0) return [];
    const first = findFirst(listing, listed.keys);
    return theirs.flatMap((home) => {
      const index = first.get(home);
      return index === undefined ? [] : [{ key: keyOf(home, 0), weight: listed.weights[index] ?? 0 }];
    });
  });
  return toPostings(heads);
}

async function divideLists(
  database: IndexReader,
  lists: ReadonlyMap<number, KeyList>,
): Promise<Map<number, OfferedWord>> {
  const filled = [...lists].filter(([, { keys }]) => keys.length > 0);
  if (filled.length === 0) return new Map();
  const divided = await divideOffers(database, union(filled.map(([, { keys }]) => keys)));
  return new Map(filled.map(([id, list]) => [id, divideWord(list, divided)]));
}

function divideWord(list: KeyList, { named, wide }: DividedOffers): OfferedWord {
  return {
    named: pickWeights(list, keysOf(named)),
    wide: wide.flatMap(({ provider, keys }) => {
      const theirs = pickWeights(list, keysOf(keys));
      return theirs.keys.length > 0 ? [{ provider, ...sortByWeight(theirs) }] : [];
    }),
  };
}

/** Those among the list. */
function pickWeights({ keys, weights }: KeyList, wanted: Keys): KeyList {
  const theirs = intersection(keys, wanted);
  return { keys: theirs, weights: Uint8Array.from(theirs, (key) => weights[lowerBound(keys, key)] ?? 0) };
}

function sortByWeight(list: KeyList): KeyList {
  const { weights } = list;
  return sortRows(list, (a, b) => (weights[a] as number) < (weights[b] as number));
}

/** The catalogs that list wide offers with a word. */
function findHeads({ wide }: OfferedWord, listings: ReadonlyMap<string, Listing[]>): KeyList {
  const heads = wide.flatMap(({ provider, keys, weights }) =>
    findHomes(listings, provider, keys).map(([home, index]) => ({
      key: keyOf(home, 0),
      weight: weights[index] ?? 0,
    })),
  );
  return toPostings(heads);
}

function toPostings(postings: readonly { key: number; weight: number }[]): KeyList {
  return sortPostings({
    keys: Float64Array.from(postings, ({ key }) => key),
    weights: Uint8Array.from(postings, ({ weight }) => weight),
  });
}
