import { rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import type { Search } from '../candidates.ts';
import { inBatches, isHead } from '../documents/keys.ts';
import { listMembers } from '../documents/members.ts';
import { findReach } from '../documents/offers.ts';
import { findSearched } from '../documents/searched-catalogs.ts';
import { difference, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList, type ListRest, type WholeList } from '../lists/posting-list.ts';
import { emptyWhole } from '../lists/read-whole.ts';
import { readOnInRuns } from '../lists/run-directory.ts';
import { rankBestFirst } from './best-first.ts';
import { findHomeAmong } from './home-offers.ts';
import { joinTexts, type TextSearch, type Wanted } from './join-texts.ts';
import { findOfferedAmong } from './offer-words.ts';
import { probeWords } from './probe-words.ts';
import { type Ranked, rankKeys, type WordProbe } from './rank-keys.ts';
import {
  type KnownText,
  planLookups,
  readWords,
  restrictWhole,
  type TextLookup,
  type WordEntry,
} from './read-words.ts';
import { settleRanks } from './settle-ranks.ts';

/** Decided: where more match, the rank is decided among as many with the rarest words. */
const maxRanked = 10_000;

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const lookups = planLookups(search, text);
  return joinTexts(search, await Promise.all(lookups.map((lookup) => prepareLookup(search, lookup))));
}

async function prepareLookup(search: Search, lookup: TextLookup): Promise<TextSearch> {
  const known = await search.trace.time(
    'read words',
    () => readWords(search, lookup),
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const { query, entries } = known;
  const all = [...entries.values()];
  const unresolved = new Map(all.filter(hasOffers).map(({ id, offers }) => [id, offers]));
  const bounded = all.filter(({ home }) => hasOffers(home));
  const atHome = new Map(bounded.map(({ id, home }) => [id, home.offers]));
  const bounds: OwnPostings = new Map(bounded.map(({ id, home }) => [id, home.bounds]));

  /** For these candidates, and fewer of them. */
  async function openProbe(keys: Keys): Promise<OpenProbe> {
    const offered = await findOfferedAmong(search, unresolved, keys);
    return (own) => probeWords(search, known, { own, offered });
  }

  async function rankExactly(keys: Keys, open: OpenProbe): Promise<Ranked> {
    return rankKeys(query, keys, open(await findHomeAmong(search, atHome, keys)));
  }

  return {
    estimate: all.reduce((sum, { documents }) => sum + documents, 0),
    isRankedTogether: all.reduce((sum, entry) => sum + countAtMost(entry), 0) < maxRanked,
    rank: async (keys) => rankExactly(keys, await openProbe(keys)),
    gather: () => gatherResources(search, known),
    async *best(wanted) {
      for await (const gathered of gatherResources(search, known)) {
        search.deadline.check();
        const keys = await findSearched(search.database, gathered, search.plan.scope);
        const open = await openProbe(keys);
        yield* atHome.size === 0 ? rankKnown(keys, open, wanted) : rankBounded(keys, open, wanted);
      }
    },
  };

  async function* rankKnown(
    keys: Keys,
    open: OpenProbe,
    { count, areOthersCounted }: Wanted,
  ): AsyncGenerator<Ranked> {
    const { best, rankOthers } = await rankFirst(keys, () => open(nothing), count);
    yield best;
    if (best.keys.length === keys.length) return;
    // What was gathered by an offer that was not looked up need not have the word.
    if (!areOthersCounted || unresolved.size > 0) return yield await rankOthers();
    const shown = keysOf(best.keys);
    for (const some of inBatches(keys, countedAtOnce)) yield withoutRanks(difference(some, shown));
  }

  /** As if offers at home applied to all resources of their catalogs; the best are verified, until as many as are wanted are settled. */
  async function* rankBounded(
    keys: Keys,
    open: OpenProbe,
    { count, areOthersCounted }: Wanted,
  ): AsyncGenerator<Ranked> {
    const first = Math.max(count, fewBounded);
    const { best, rankOthers } = await rankFirst(keys, () => open(bounds), first);
    const parts = async function* () {
      yield best;
      if (best.keys.length < keys.length) yield await rankOthers();
    };
    let settled: Keys = none;
    for await (const ranked of settleRanks(
      parts(),
      (some) => rankExactly(some, open),
      Math.max(count, fewVerified),
    )) {
      yield ranked;
      settled = union([settled, keysOf(ranked.keys)]);
      if (areOthersCounted && settled.length >= count)
        return yield* countOthers(difference(keys, settled), open);
    }
  }

  /** In any order: those that have another word, then those that an offer applies to. */
  async function* countOthers(keys: Keys, open: OpenProbe): AsyncGenerator<Ranked> {
    for (const some of inBatches(keys, countedAtOnce)) {
      const sure = await rankKeys(query, some, open(nothing));
      yield withoutRanks(sure.keys);
      const others = await rankExactly(difference(some, sure.keys), open);
      yield withoutRanks(others.keys);
    }
  }

  function rankFirst(keys: Keys, open: () => WordProbe, count: number) {
    return search.trace.time(
      'rank',
      () => rankBestFirst(query, keys, open, count),
      (found) => ({ resources: keys.length, best: found.best.keys.length }),
    );
  }
}

/** What offers at home apply to, by the words' numbers. */
type OwnPostings = ReadonlyMap<number, WholeList>;
type OpenProbe = (own: OwnPostings) => WordProbe;

const nothing: OwnPostings = new Map();
/** So many of the highest upper bounds are found, and so many of them verified first. */
const fewBounded = 600;
const fewVerified = 100;
/** Three resources of a catalog have its offers in common, more or less: about as many offers as an answer counts resources. */
const countedAtOnce = 3_600;

function hasOffers({ offers }: { offers: KeyList }): boolean {
  return offers.keys.length > 0;
}

/** As the candidates of a word are counted when they are gathered, or more. */
function countAtMost({ postings, prefix, standing, home, offered, offers }: WordEntry): number {
  if (offers.keys.length > 0) return Number.POSITIVE_INFINITY;
  const isWhole = postings.part.rest === undefined;
  const known = [home.own, home.bounds, offered, standing, ...(isWhole ? prefix.parts : [])];
  const inLists = isWhole ? 0 : postings.count * resourcesOfCatalog;
  return known.reduce((sum, { heads, others }) => sum + countPostings(heads.keys, others.keys), inLists);
}

function countPostings(heads: Keys, others: Keys): number {
  return others.length + heads.length * resourcesOfCatalog;
}

function withoutRanks(keys: Keys): Ranked {
  return { keys, ranks: new Float64Array(keys.length) };
}

/** Resources with the words, those of the rarest words first, in order and none twice, as many at a time as are ranked together. */
async function* gatherResources(search: Search, known: KnownText): AsyncGenerator<Keys> {
  let done: Keys = new Float64Array();
  let pending: KeyPostings[] = [];
  let count = 0;
  for (const entry of sortByRarity(known)) {
    for await (const postings of streamPostings(search, entry, known.lookup)) {
      pending.push(postings);
      count += countPostings(postings.heads, postings.others);
      if (count < maxRanked) continue;
      const found = difference(await expandCatalogs(search, pending), done);
      yield found;
      done = union([done, found]);
      pending = [];
      count = 0;
    }
  }
  if (count > 0) yield difference(await expandCatalogs(search, pending), done);
}

/** How many resources a catalog is estimated to have. */
const resourcesOfCatalog = 3;

function sortByRarity({ query, entries }: KnownText): WordEntry[] {
  const words = new Set(rarestFirst(query).map(({ word }) => word));
  return [...words].flatMap((word) => entries.get(word) ?? []);
}

interface KeyPostings {
  heads: Keys;
  others: Keys;
}

const none: Keys = new Float64Array();

/** The postings of one word, part by part. */
async function* streamPostings(
  search: Search,
  { postings, prefix, standing, home, offered, offers }: WordEntry,
  lookup: TextLookup,
): AsyncGenerator<KeyPostings> {
  const { database } = search;
  for (const { heads, others } of [home.own, offered])
    if (heads.keys.length + others.keys.length > 0) yield { heads: heads.keys, others: others.keys };
  for (const keys of inBatches(offers.keys, offersAtOnce)) {
    search.deadline.check();
    const reached = keysOf(await findReach(database, keys));
    yield { heads: reached.filter(isHead), others: reached.filter((key) => !isHead(key)) };
  }
  for (const { heads } of [home.bounds, standing]) yield* slicePostings({ heads, others: emptyList });
  yield* slicePostings(prefix.parts[0]);
  let rest: ListRest | undefined = postings.part.rest;
  for (let runs = firstRuns; rest; runs *= growth) {
    const { rest: next, ...list } = await readOnInRuns(database, rest, runs);
    const part = restrictWhole(lookup, list);
    prefix.parts.push(part);
    prefix.upTo = next?.from ?? Number.POSITIVE_INFINITY;
    yield* slicePostings(part);
    rest = next;
  }
}

/** Of very many with a word, so many are looked up at a time. */
const offersAtOnce = 2_000;

function* slicePostings({ heads, others }: WholeList = emptyWhole): Generator<KeyPostings> {
  for (const batch of inBatches(heads.keys, Math.floor(sliceLength / resourcesOfCatalog)))
    yield { heads: batch, others: none };
  for (const batch of inBatches(others.keys, sliceLength)) yield { heads: none, others: batch };
}

/** So that not many more are gathered than are ranked together. */
const sliceLength = maxRanked / 4;

const firstRuns = 32;
/** Of a list in small pieces, more and more are read at once. */
const growth = 4;

/** What is said of a catalog is said of all its resources. */
async function expandCatalogs({ database }: Search, postings: readonly KeyPostings[]): Promise<Keys> {
  const heads = union(postings.map((each) => each.heads));
  return union([...postings.map(({ others }) => others), await listMembers(database, heads)]);
}

function describe(query: TextQuery, entries: ReadonlyMap<string, WordEntry>): object[] {
  return query.words.map(({ word, variants }) => ({
    word,
    standsFor: variants.map((variant) => ({
      word: variant.word,
      documents: entries.get(variant.word)?.documents ?? 0,
    })),
  }));
}
