import { rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import { RankingMemory } from '../cache/ranking-cache.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf, lastNumbers, span } from '../documents/keys.ts';
import { withMembers } from '../documents/members.ts';
import { difference, type Keys, keysOf, union } from '../lists/key-sets.ts';
import { emptyList, type KeyList, seek } from '../lists/posting-list.ts';
import { readOn, readRanges } from '../lists/read-parts.ts';
import { divided, type WholeList } from '../lists/read-whole.ts';
import { everyResource, wordList } from '../lists/runs.ts';
import { bestFirst } from './best-first.ts';
import { readWordsAmong } from './match-words.ts';
import { type PlacesOf, type Ranked, rankKeys } from './rank-keys.ts';
import { type KnownText, readWords, type WordEntry } from './read-words.ts';

/** Decided: where more match, the rank is decided among as many with the rarest words. */
const maxRanked = 10_000;

const rankings = new RankingMemory();

/** A text search: it proposes candidates, the rarest words first, and ranks whatever it is given. */
export interface TextSearch {
  /** How many candidates there are, about. */
  estimate: number;
  /** All resources that have one of the words, the best first: first those with the rarest words, as many as are ranked together. */
  best(): AsyncGenerator<Ranked>;
  /** Those among these resources that have one of the words, in the order of keys. */
  rank(keys: Keys): Promise<Ranked>;
}

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const known = await search.trace.time(
    'read words',
    () => readWords(search, text),
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const { query, entries } = known;

  async function findPlaces(keys: Keys): Promise<PlacesOf> {
    const along = await placesAmong(search, [...entries.values()], keys);
    return (word) => {
      const entry = entries.get(word);
      if (entry === undefined) return [];
      return [along.get(entry.id) ?? entry.places, entry.offered];
    };
  }

  return {
    estimate: [...entries.values()].reduce((sum, { documents }) => sum + documents, 0),
    rank: async (keys) => rankKeys(query, keys, await findPlaces(keys)),
    async *best() {
      const first = rankings.find(text, known);
      if (first) yield first;
      let isFirst = true;
      for await (const keys of gathered(search, known)) {
        search.deadline.check();
        const { best, rankOthers } = await search.trace.time(
          'rank',
          async () => bestFirst(query, keys, await findPlaces(keys)),
          (found) => ({ resources: keys.length, best: found.best.keys.length }),
        );
        if (isFirst) rankings.keep(text, known, best);
        if (!isFirst || !first) yield best;
        isFirst = false;
        if (best.keys.length < keys.length) yield rankOthers();
      }
    },
  };
}

/** Resources with the words, those of the rarest words first, in order and none twice, as many at a time as are ranked together. */
async function* gathered(search: Search, known: KnownText): AsyncGenerator<Keys> {
  let done: Keys = new Float64Array();
  let pending: KeyPlaces[] = [];
  let count = 0;
  for (const entry of rarestEntries(known)) {
    for await (const places of placesOf(search, entry)) {
      pending.push(places);
      count += places.others.length + places.heads.length * resourcesOfCatalog;
      if (count < maxRanked) continue;
      const found = difference(await withResources(search, known, pending), done);
      yield found;
      done = union([done, found]);
      pending = [];
      count = 0;
    }
  }
  if (count > 0) yield difference(await withResources(search, known, pending), done);
}

/** About. */
const resourcesOfCatalog = 3;

function rarestEntries({ query, entries }: KnownText): WordEntry[] {
  const words = new Set(rarestFirst(query).map(({ word }) => word));
  return [...words].flatMap((word) => entries.get(word) ?? []);
}

interface KeyPlaces {
  heads: Keys;
  others: Keys;
}

const none: Keys = new Float64Array();

/** Where one word stands, part by part. */
async function* placesOf({ database }: Search, { places, offered }: WordEntry): AsyncGenerator<KeyPlaces> {
  yield { heads: offered.heads.keys, others: offered.others.keys };
  yield { heads: places.heads.keys, others: none };
  yield* slicesOf(places.others.keys);
  for (let { rest } = places, runs = moreRuns; rest; runs *= growth) {
    const { rest: next, ...part } = await readOn(database, rest, runs);
    const { heads, others } = divided(part);
    yield { heads: heads.keys, others: none };
    yield* slicesOf(others.keys);
    rest = next;
  }
}

function* slicesOf(keys: Keys): Generator<KeyPlaces> {
  for (let start = 0; start < keys.length; start += sliceLength)
    yield { heads: none, others: keys.subarray(start, start + sliceLength) };
}

/** So that not many more are gathered than are ranked together. */
const sliceLength = maxRanked / 4;

const moreRuns = 32;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;

/** What is said of a catalog is said of all its resources. */
async function withResources(
  search: Search,
  { every }: KnownText,
  places: readonly KeyPlaces[],
): Promise<Keys> {
  const heads = union(places.map((each) => each.heads));
  const resources = places.map(({ others }) => others);
  if (heads.length === 0) return union(resources);
  return union([...resources, every ? below(heads, every.keys) : await readBelow(search, heads)]);
}

async function readBelow({ database }: Search, heads: Keys): Promise<Keys> {
  if (heads.length <= fewHeads) return keysOf(await withMembers(database, heads));
  const range = { from: heads[0] as number, upTo: (heads.at(-1) as number) + lastNumbers.resource };
  const every = (await readRanges(database, [everyResource], range)).get(everyResource);
  return below(heads, every?.keys ?? none);
}

/** Fewer catalogs are asked for their resources one by one. */
const fewHeads = 500;

/** The resources of these catalogs. */
function below(heads: Keys, resources: Keys): Keys {
  const starts = new Uint32Array(heads.length);
  const ends = new Uint32Array(heads.length);
  let [at, count] = [0, 0];
  for (let index = 0; index < heads.length; index++) {
    const head = heads[index] as number;
    if ((resources[at] as number) < head) at = seek(resources, head, at);
    starts[index] = at;
    if ((resources[at] as number) < head + span) at = seek(resources, head + span, at);
    ends[index] = at;
    count += at - (starts[index] as number);
  }
  const found = new Float64Array(count);
  let place = 0;
  for (let index = 0; index < heads.length; index++)
    for (let from = starts[index] as number; from < (ends[index] as number); from++)
      found[place++] = resources[from] as number;
  return found;
}

/**
 * Where words that are too common to be known whole stand among these resources, by the words' numbers. Many resources are walked along with
 * the lists of their words; few are asked for their words.
 */
async function placesAmong(
  { database }: Search,
  entries: readonly WordEntry[],
  keys: Keys,
): Promise<Map<number, WholeList>> {
  const common = entries.filter(({ places }) => places.rest);
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
  return new Map(Array.from(await read(), ([id, list]) => [id, divided(list)]));
}

/** To look up the words of one resource takes as long as to walk along so many places of a word. */
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
