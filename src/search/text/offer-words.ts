import { addTo } from '../../group.ts';
import { readForCache } from '../cache/caches.ts';
import { nameOf, type ProviderName } from '../cache/provider-cache.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import {
  type DividedOffers,
  divideOffers,
  findBestAmong,
  findBestCovered,
  findSteadyMs,
} from '../documents/offers.ts';
import { findHomes, findListings, readListings } from '../documents/read-wide-offers.ts';
import { findFirst, type Listing } from '../documents/wide-offers.ts';
import { sortRows } from '../lists/columns.ts';
import { intersection, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList, lowerBound, sortPostings } from '../lists/posting-list.ts';
import { emptyWhole, type WholeList } from '../lists/read-whole.ts';
import { offerList } from '../lists/runs.ts';

// The postings of words in offers. An offer that names resources leads to those; a wide offer leads to the heads of the catalogs that list it, as a word of the catalog does.

/** The offers that a word stands in, divided: those that name resources, and wide ones by provider. */
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
  /** Of the caches (cache/caches.ts). */
  generation: number;
  networkId: string | undefined;
  /** Milliseconds since the epoch. */
  from: number;
  until: number;
  postings: KeyList;
}

/** Offers of one provider, those with the highest weights first. */
interface WideOffers extends KeyList {
  provider: ProviderName;
}

/** By the words' numbers; `lists` are the offers that each of them stands in. */
export async function findOffered(
  search: Search,
  lists: ReadonlyMap<number, KeyList>,
): Promise<Map<number, WholeList>> {
  const words = await divideLists(search, lists);
  const providers = new Map(
    [...words.values()].flatMap(({ wide }) => wide.map(({ provider }) => [nameOf(provider), provider])),
  );
  const listings =
    providers.size === 0
      ? new Map<string, Listing[]>()
      : await readListings(search.database, [...providers.values()], search.plan.scope);
  const named = await findCoveredPostings(search, words);
  return new Map(
    Array.from(words, ([id, word]) => {
      search.deadline.check();
      const wide = findHeads(word, listings);
      const others = named.get(id);
      return [id, others ? { heads: wide.heads, others } : wide];
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

/** The resources that offers with the words name and apply to. As long as nothing changes, neither do they. */
async function findCoveredPostings(
  { database, plan: { scope } }: Search,
  words: ReadonlyMap<number, OfferedWord>,
): Promise<Map<number, KeyList>> {
  const [generation, now] = [database.caches.generation, scope.now.getTime()];
  const known = new Map<number, KeyList>();
  const unknown = new Map<number, OfferedWord>();
  for (const [id, word] of words) {
    const { covered, named } = word;
    const isSame = covered?.generation === generation && covered.networkId === scope.networkId;
    if (isSame && covered.from <= now && now < covered.until) known.set(id, covered.postings);
    else if (named.keys.length > 0) unknown.set(id, word);
  }
  if (unknown.size === 0) return known;
  const owners = new Set([...unknown.values()].flatMap((word) => [...word.owners]));
  const { found, mayKeep } = await readForCache(database, async () => ({
    covered: await findBestCovered(
      database,
      new Map(Array.from(unknown, ([id, word]) => [id, word.named])),
      scope,
    ),
    steadyMs: await findSteadyMs(database, owners, scope.now),
  }));
  for (const [id, word] of unknown) {
    const postings = found.covered.get(id) ?? emptyList;
    known.set(id, postings);
    const until = now + found.steadyMs;
    if (mayKeep) word.covered = { generation, networkId: scope.networkId, from: now, until, postings };
  }
  return known;
}

/** What is not known of them is read together. */
async function divideLists(
  { database }: Search,
  lists: ReadonlyMap<number, KeyList>,
): Promise<Map<number, OfferedWord>> {
  const cache = database.caches.offerWords;
  const words = new Map<number, OfferedWord>();
  const unknown: [number, KeyList][] = [];
  for (const [id, list] of lists) {
    const known = cache.find(offerList(id));
    if (known?.list === list) words.set(id, known);
    else if (list.keys.length > 0) unknown.push([id, list]);
  }
  if (unknown.length === 0) return words;
  const all = union(unknown.map(([, { keys }]) => keys));
  const { found, mayKeep } = await readForCache(database, () => divideOffers(database, all));
  for (const [id, list] of unknown) {
    const word = divideWord(list, found);
    words.set(id, word);
    if (mayKeep) cache.keep(offerList(id), word);
  }
  return words;
}

function divideWord(list: KeyList, { named, wide, owners }: DividedOffers): OfferedWord {
  return {
    list,
    named: pickWeights(list, keysOf(named)),
    wide: wide.flatMap(({ provider, keys }) => {
      const theirs = pickWeights(list, keysOf(keys));
      return theirs.keys.length > 0 ? [{ provider, ...sortByWeight(theirs) }] : [];
    }),
    owners,
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

/** The catalogs that list wide offers with a word. While the listings are the same objects, so is this. */
function findHeads(word: OfferedWord, listings: ReadonlyMap<string, Listing[]>): WholeList {
  const used = word.wide.flatMap(({ provider }) => listings.get(nameOf(provider)) ?? []);
  if (used.length === 0) return emptyWhole;
  const { last } = word;
  if (last?.listings.length === used.length && used.every((each, index) => each === last.listings[index]))
    return last.postings;
  const heads = word.wide.flatMap(({ provider, keys, weights }) =>
    findHomes(listings, provider, keys).map(([home, index]) => ({
      key: keyOf(home, 0),
      weight: weights[index] ?? 0,
    })),
  );
  const postings = {
    heads: toPostings(heads),
    others: emptyList,
  };
  word.last = { listings: used, postings };
  return postings;
}

function toPostings(postings: readonly { key: number; weight: number }[]): KeyList {
  return sortPostings({
    keys: Float64Array.from(postings, ({ key }) => key),
    weights: Uint8Array.from(postings, ({ weight }) => weight),
  });
}
