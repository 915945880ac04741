import { rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import { catalogKeyOf, keyOf, lastNumbers, span } from '../../storage/discovery-keys.ts';
import { readOn, readRanges } from '../../storage/discovery-list-reader.ts';
import { everyResource, wordList } from '../../storage/discovery-lists.ts';
import { readResourceKeys, readWordsAmong } from '../../storage/discovery-word-search.ts';
import type { KeyList } from '../../storage/key-list.ts';
import type { Search } from './candidates.ts';
import { difference, type Keys, keysOf, union } from './key-sets.ts';
import { rankKeys } from './rank-keys.ts';
import { readWords, type WordEntry } from './text-words.ts';

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
}

/** Resources, and beside each its rank. */
export interface Ranked {
  keys: Keys;
  ranks: Float64Array;
}

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const { query, entries } = await search.trace.time(
    'read words',
    () => readWords(search, text),
    (read) => ({ words: describe(read.query, read.entries) }),
  );

  async function rank(keys: Keys): Promise<Ranked> {
    const places = await placesAmong(search, [...entries.values()], keys);
    const ranks = rankKeys(query, keys, (word) => {
      const entry = entries.get(word);
      return entry ? [places.get(entry.id) ?? entry.list, entry.offered] : [];
    });
    const isFound = (_: number, index: number) => (ranks[index] as number) > 0;
    return { keys: keys.filter(isFound), ranks: ranks.filter(isFound) };
  }

  return {
    estimate: [...entries.values()].reduce((sum, { documents }) => sum + documents, 0),
    rank,
    async *best() {
      for await (const keys of gathered(search, rarestEntries(query, entries))) {
        search.deadline.check();
        const ranked = await search.trace.time(
          'rank',
          () => rank(keys),
          (found) => ({ resources: found.keys.length }),
        );
        yield bestFirst(ranked);
      }
    },
  };
}

function rarestEntries(query: TextQuery, entries: ReadonlyMap<string, WordEntry>): WordEntry[] {
  const words = new Set(rarestFirst(query).map(({ word }) => word));
  return [...words].flatMap((word) => entries.get(word) ?? []);
}

/** Resources with the given words, those of the first words first, in order and none twice, as many at a time as are ranked together. */
async function* gathered(search: Search, words: readonly WordEntry[]): AsyncGenerator<Keys> {
  let done: Keys = new Float64Array();
  let pending: Keys[] = [];
  let count = 0;
  for (const word of words) {
    for await (const keys of placesOf(search, word)) {
      pending.push(keys);
      count += keys.reduce((sum, key) => sum + (key % span === 0 ? resourcesOfCatalog : 1), 0);
      if (count < maxRanked) continue;
      const found = difference(await withResources(search, union(pending)), done);
      yield found;
      done = union([done, found]);
      pending = [];
      count = 0;
    }
  }
  if (count > 0) yield difference(await withResources(search, union(pending)), done);
}

/** About. */
const resourcesOfCatalog = 3;

/** Where one word stands, part by part. */
async function* placesOf({ database }: Search, { list, offered }: WordEntry): AsyncGenerator<Keys> {
  yield offered.keys;
  for (let part = list, runs = moreRuns; ; runs *= growth) {
    yield part.keys;
    if (part.rest === undefined) return;
    part = await readOn(database, part.rest, runs);
  }
}

const moreRuns = 32;
/** Of a list in small pieces, more and more are read at once. */
const growth = 2;

/** What is said of a catalog is said of all its resources. */
async function withResources({ database }: Search, keys: Keys): Promise<Keys> {
  const heads = keys.filter((key) => key % span === 0);
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return keys;
  const resources = keys.filter((key) => key % span !== 0);
  if (heads.length <= fewHeads) return union([resources, keysOf(await readResourceKeys(database, heads))]);
  const range = { from: first, upTo: last + lastNumbers.resource };
  const every = (await readRanges(database, [everyResource], range)).get(everyResource);
  return union([resources, below(heads, every?.keys ?? new Float64Array())]);
}

/** Fewer catalogs are asked for their resources one by one. */
const fewHeads = 500;

/** The resources of these catalogs. */
function below(heads: Keys, resources: Keys): Keys {
  const found = new Float64Array(resources.length);
  let count = 0;
  let at = 0;
  for (const head of heads) {
    while (at < resources.length && (resources[at] as number) < head) at++;
    for (; at < resources.length && (resources[at] as number) < head + span; at++) {
      found[count++] = resources[at] as number;
    }
  }
  return found.subarray(0, count);
}

/**
 * Where common words stand among these resources, by the words' numbers; rare ones are known already. Many resources are walked along with the
 * lists of their words; few are asked for their words.
 */
async function placesAmong(
  { database }: Search,
  entries: readonly WordEntry[],
  keys: Keys,
): Promise<Map<number, KeyList>> {
  const common = entries.filter(({ list }) => list.rest);
  const [first, last] = [keys[0], keys.at(-1)];
  if (common.length === 0 || first === undefined || last === undefined) return new Map();
  const entriesAlong = common.reduce((sum, { documents }) => sum + documents, 0);
  if (keys.length * lookUpCost < entriesAlong) {
    return readWordsAmong(database, new Set(common.map(({ id }) => id)), keys);
  }
  const lists = common.map(({ id }) => wordList(id));
  const read = await readRanges(database, lists, { from: keyOf(catalogKeyOf(first), 0), upTo: last });
  return new Map(
    common.flatMap(({ id }) => {
      const places = read.get(wordList(id));
      return places ? [[id, places]] : [];
    }),
  );
}

/** To look up the words of one resource takes as long as to walk along so many places of a word. */
const lookUpCost = 40;

/** Ranks are few: each gets its range of places in the order. Equal ones stay in the order of keys. */
function bestFirst({ keys, ranks }: Ranked): Ranked {
  const counts = new Map<number, number>();
  for (const rank of ranks) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  const starts = new Map<number, number>();
  let start = 0;
  for (const rank of [...counts.keys()].sort((a, b) => b - a)) {
    starts.set(rank, start);
    start += counts.get(rank) ?? 0;
  }
  const sorted = { keys: new Float64Array(keys.length), ranks: new Float64Array(keys.length) };
  for (let index = 0; index < keys.length; index++) {
    const rank = ranks[index] as number;
    const place = starts.get(rank) ?? 0;
    starts.set(rank, place + 1);
    sorted.keys[place] = keys[index] as number;
    sorted.ranks[place] = rank;
  }
  return sorted;
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
