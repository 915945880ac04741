import { rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, inBatches, isHead, keyOf } from '../documents/keys.ts';
import { listMembers } from '../documents/members.ts';
import { findReach } from '../documents/offers.ts';
import { difference, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList } from '../lists/posting-list.ts';
import { readOn, readRanges } from '../lists/read-parts.ts';
import { divideHeads, type WholeList } from '../lists/read-whole.ts';
import { wordList } from '../lists/runs.ts';
import { rankBestFirst } from './best-first.ts';
import { joinTexts } from './join-texts.ts';
import { readWordsAmong } from './match-words.ts';
import { findOfferedAmong } from './offer-words.ts';
import { type PostingsOf, type Ranked, rankKeys } from './rank-keys.ts';
import {
  type KnownText,
  planLookups,
  readWords,
  restrictWhole,
  type TextLookup,
  type WordEntry,
} from './read-words.ts';

/** Decided: where more match, the rank is decided among as many with the rarest words. */
const maxRanked = 10_000;

/** A text search: it proposes candidates, the rarest words first, and ranks whatever it is given. */
export interface TextSearch {
  /** How many candidates there are, about. */
  estimate: number;
  /** All resources that have one of the words, the best first: first those with the rarest words, as many as are ranked together. */
  best(): AsyncGenerator<Ranked>;
  /** Those among these resources that have one of the words, in the order of keys. */
  rank(keys: Keys): Promise<Ranked>;
  /** The resources that have one of the words, in no order of ranks. */
  gather(): AsyncGenerator<Keys>;
}

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const lookups = planLookups(search, text);
  return joinTexts(search, await Promise.all(lookups.map((lookup) => prepareLookup(search, text, lookup))));
}

async function prepareLookup(search: Search, _text: string, lookup: TextLookup): Promise<TextSearch> {
  const known = await search.trace.time(
    'read words',
    () => readWords(search, lookup),
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const { query, entries } = known;
  const unresolved = new Map(
    [...entries.values()]
      .filter(({ offers }) => offers.keys.length > 0)
      .map(({ id, offers }) => [id, offers]),
  );

  async function findPostings(keys: Keys): Promise<PostingsOf> {
    const along = await readPostingsAmong(search, known, keys);
    const offered = await findOfferedAmong(search, unresolved, keys);
    return (word) => {
      const entry = entries.get(word);
      if (entry === undefined) return [];
      const { id, postings, standing } = entry;
      return [along.get(id) ?? postings, standing, offered.get(id) ?? entry.offered];
    };
  }

  return {
    estimate: [...entries.values()].reduce((sum, { documents }) => sum + documents, 0),
    rank: async (keys) => rankKeys(query, keys, await findPostings(keys)),
    gather: () => gatherResources(search, known),
    async *best() {
      for await (const keys of gatherResources(search, known)) {
        search.deadline.check();
        const { best, rankOthers } = await search.trace.time(
          'rank',
          async () => rankBestFirst(query, keys, await findPostings(keys)),
          (found) => ({ resources: keys.length, best: found.best.keys.length }),
        );
        yield best;
        if (best.keys.length < keys.length) yield rankOthers();
      }
    },
  };
}

/** Resources with the words, those of the rarest words first, in order and none twice, as many at a time as are ranked together. */
async function* gatherResources(search: Search, known: KnownText): AsyncGenerator<Keys> {
  let done: Keys = new Float64Array();
  let pending: KeyPostings[] = [];
  let count = 0;
  for (const entry of sortByRarity(known)) {
    for await (const postings of streamPostings(search, entry, known.lookup)) {
      pending.push(postings);
      count += postings.others.length + postings.heads.length * resourcesOfCatalog;
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
  { postings, standing, offered, offers }: WordEntry,
  lookup: TextLookup,
): AsyncGenerator<KeyPostings> {
  const { database } = search;
  yield { heads: offered.heads.keys, others: offered.others.keys };
  for (const keys of inBatches(offers.keys, offersAtOnce)) {
    search.deadline.check();
    const reached = keysOf(await findReach(database, keys));
    yield { heads: reached.filter(isHead), others: reached.filter((key) => !isHead(key)) };
  }
  for (const heads of inBatches(standing.heads.keys, Math.floor(sliceLength / resourcesOfCatalog)))
    yield { heads, others: none };
  yield { heads: postings.heads.keys, others: none };
  yield* slicePostings(postings.others.keys);
  for (let { rest } = postings, runs = moreRuns; rest; runs *= growth) {
    const { rest: next, ...part } = await readOn(database, rest, runs);
    const { heads, others } = restrictWhole(lookup, divideHeads(part));
    yield { heads: heads.keys, others: none };
    yield* slicePostings(others.keys);
    rest = next;
  }
}

/** Of very many with a word, so many are looked up at a time. */
const offersAtOnce = 2_000;

function* slicePostings(keys: Keys): Generator<KeyPostings> {
  for (const others of inBatches(keys, sliceLength)) yield { heads: none, others };
}

/** So that not many more are gathered than are ranked together. */
const sliceLength = maxRanked / 4;

const moreRuns = 32;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;

/** What is said of a catalog is said of all its resources. */
async function expandCatalogs({ database }: Search, postings: readonly KeyPostings[]): Promise<Keys> {
  const heads = union(postings.map((each) => each.heads));
  return union([...postings.map(({ others }) => others), await listMembers(database, heads)]);
}

/**
 * Where words that are too common to be known whole stand among these resources, by the words' numbers. Many resources are walked along with
 * the lists of their words; few are asked for their words.
 */
async function readPostingsAmong(
  { database }: Search,
  { entries, lookup }: KnownText,
  keys: Keys,
): Promise<Map<number, WholeList>> {
  const common = [...entries.values()].filter(({ postings }) => postings.rest);
  const [first, last] = [keys[0], keys.at(-1)];
  if (common.length === 0 || first === undefined || last === undefined) return new Map();
  const entriesAlong = common.reduce((sum, { documents }) => sum + documents, 0);
  const read = async (): Promise<Map<number, KeyList>> => {
    if (keys.length * lookUpCost < entriesAlong)
      return readWordsAmong(database, new Set(common.map(({ id }) => id)), keys);
    const lists = common.map(({ id }) => wordList(id));
    const range = { from: keyOf(catalogKeyOf(first), 0), upTo: last };
    const found = await readRanges(database, lists, range);
    return new Map(common.map(({ id }) => [id, found.get(wordList(id)) ?? emptyList]));
  };
  return new Map(Array.from(await read(), ([id, list]) => [id, restrictWhole(lookup, divideHeads(list))]));
}

/** To look up the words of one resource takes as long as to walk along so many postings. */
const lookUpCost = 40;

function describe(query: TextQuery, entries: ReadonlyMap<string, WordEntry>): object[] {
  return query.words.map(({ word, variants }) => ({
    word,
    standsFor: variants.map((variant) => ({
      word: variant.word,
      documents: entries.get(variant.word)?.documents ?? 0,
    })),
  }));
}
