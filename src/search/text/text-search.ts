import { type AskedWord, rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import type { IndexReader, Run } from '../cache/caches.ts';
import { countMembers, headsOf, listMembers } from '../documents/members.ts';
import { readCovering } from '../documents/own-offers.ts';
import { selectSearched } from '../documents/scope.ts';
import { type Hit, hitsOf, keysOfHits } from '../hit.ts';
import { headOf, kindOf } from '../keys.ts';
import { offerList, wordList } from '../lists/list-numbers.ts';
import { streamRuns } from '../lists/list-set.ts';
import { readNear } from '../lists/read-lists.ts';
import { difference, hasKey, inBatches, type Keys, keysOf, union } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import { type ReadPostings, rankBestFirst, rankKeys } from './rank-keys.ts';
import { type AskedText, readWords, type WordEntry } from './read-words.ts';
import { settleRanks } from './settle-ranks.ts';

// Text search. The words of resources, catalogs and offers that always apply are certain. Those of other offers are upper bounds: a resource counts as if all offers of its catalog with the word covered it now. If few
// offers have a word, their coverage is read at once. If many do, the best resources are ranked by the bounds, and then exactly.

export type TextSearch = Awaited<ReturnType<typeof openText>>;

/** Number of best hits to return at once. */
interface Wanted {
  count: number;
  /** Whether the others are only counted. Then they come in any order, and without ranks. */
  areOthersCounted: boolean;
}

/** Maximum of ranked resources. If more match, the rank is decided among this number with the rarest words. */
const maxRanked = 10_000;
/** Entries of a list that are read at once: not many more than are ranked together. */
const gatheredAtOnce = maxRanked / 4;
/** Maximum of offers with a word whose coverage is read at once. */
const fewOffers = 100;
/** Number of resources to find by the highest upper bounds, and of those to rank exactly first. */
const bounded = { found: 600, verified: 100 };
/** Number of postings of words that are read together. */
const readTogether = 60_000;
/** Number of resources that are counted at once. */
const countedAtOnce = 3_600;

/** A text search: it proposes candidates, the rarest words first, and ranks given ones. */
export async function openText(tools: Tools, asked: AskedText) {
  const { reader, scope, deadline, trace } = tools;
  const { query, entries } = await trace.time(
    'read words',
    async () => {
      const read = await readWords(tools, asked);
      await resolveFew(tools, [...read.entries.values()]);
      return read;
    },
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const all = [...entries.values()];
  const hasBounds = all.some(({ offers, covered }) => offers.count > 0 && covered === undefined);

  /** `ofOffers`: how unresolved offers count. */
  const postings = (ofOffers: 'as bounds' | 'exactly' | 'not'): ReadPostings => {
    const read = async (words: readonly AskedWord[], keys: Keys) => {
      const wanted = words.flatMap(({ variants }) => variants.flatMap(({ word }) => entries.get(word) ?? []));
      const heads = headsOf(keys);
      const unresolved = ofOffers === 'not' ? [] : wanted.filter(({ covered }) => covered === undefined);
      const lists = [...wanted.map(({ id }) => wordList(id)), ...unresolved.map(({ id }) => offerList(id))];
      const runs = await readNear(reader, [...new Set(lists)], union([keys, heads]), heads);
      const offered = (ofOffers === 'exactly' ? unresolved : []).map(
        (entry) => [entry, selectOf(runs.get(offerList(entry.id)), heads)] as const,
      );
      const exact = offered.length > 0 ? await cover(tools, new Map(offered)) : undefined;
      return (word: string) => {
        const entry = entries.get(word);
        if (entry === undefined) return [];
        const covered = entry.covered ?? exact?.get(entry);
        const bounds = ofOffers === 'as bounds' ? (runs.get(offerList(entry.id)) ?? []) : [];
        return [...(runs.get(wordList(entry.id)) ?? []), ...(covered ? [covered] : bounds)];
      };
    };
    return Object.assign(read, { countTogether });
  };

  function countTogether(words: readonly AskedWord[]): number {
    let [count, documents] = [0, 0];
    for (const { variants } of words) {
      for (const { word } of variants) documents += entries.get(word)?.documents ?? 0;
      if (count > 0 && documents > readTogether) break;
      count++;
    }
    return count;
  }

  async function* rankKnown(keys: Keys, { count, areOthersCounted }: Wanted): AsyncGenerator<Hit[]> {
    const { best, rankOthers } = await rankFirst(keys, count);
    yield best;
    if (best.length === keys.length) return;
    if (!areOthersCounted) return yield await rankOthers();
    const shown = keysOfHits(best);
    for (const some of inBatches(keys, countedAtOnce)) yield hitsOf(difference(some, shown));
  }

  /** Ranks as if all offers covered all resources of their catalogs. Then ranks the best exactly, until enough are settled. */
  async function* rankBounded(keys: Keys, { count, areOthersCounted }: Wanted): AsyncGenerator<Hit[]> {
    const { best, rankOthers } = await rankFirst(keys, Math.max(count, bounded.found));
    const parts = async function* () {
      yield best;
      if (best.length < keys.length) yield await rankOthers();
    };
    let settled: Keys = new Float64Array();
    const rankExactly = (some: Keys) => rankKeys(query, some, postings('exactly'));
    for await (const ranked of settleRanks(parts(), rankExactly, Math.max(count, bounded.verified))) {
      yield ranked;
      settled = union([settled, keysOfHits(ranked)]);
      if (!areOthersCounted || settled.length < count) continue;
      // In any order: those with another word, then those that an offer covers.
      for (const some of inBatches(difference(keys, settled), countedAtOnce)) {
        const sure = keysOfHits(await rankKeys(query, some, postings('not')));
        yield hitsOf(sure);
        yield hitsOf(keysOfHits(await rankExactly(difference(some, sure))));
      }
      return;
    }
  }

  function rankFirst(keys: Keys, count: number) {
    return trace.time(
      'rank',
      () => rankBestFirst(query, keys, postings('as bounds'), count),
      (found) => ({ resources: keys.length, best: found.best.length }),
    );
  }

  async function* gather(): AsyncGenerator<Keys> {
    for await (const keys of gatherResources(reader, rarest(query, entries))) {
      deadline.check();
      yield await selectSearched(reader, keys, scope);
    }
  }

  return {
    /** Estimated number of candidates. */
    estimate: all.reduce((sum, { documents }) => sum + documents, 0),
    /** All resources in scope with one of the words, and possibly others of their catalogs. The rarest words come first. Batches are in key order. */
    gather,
    /** Ranks the resources that have one of the words, in key order. */
    rank: (keys: Keys) => rankKeys(query, keys, postings('exactly')),
    /** Like `gather`, but the best first within each batch. */
    async *best(wanted: Wanted): AsyncGenerator<Hit[]> {
      for await (const keys of gather())
        yield* hasBounds ? rankBounded(keys, wanted) : rankKnown(keys, wanted);
    },
  };
}

/** Reads the coverage of offers for words with few offers. */
async function resolveFew(tools: Tools, entries: readonly WordEntry[]): Promise<void> {
  const few = new Map<WordEntry, Run>();
  let left = fewOffers;
  for (const entry of [...entries].sort((a, b) => a.offers.count - b.offers.count)) {
    left -= entry.offers.count;
    if (left < 0) break;
    const read = streamRuns(tools.reader, entry.offers);
    few.set(entry, (await read(fewOffers + 1)) ?? toRun(new Map()));
  }
  for (const [entry, covered] of await cover(tools, few)) entry.covered = covered;
}

/** The resources that offers with a word cover now, each with the highest weight of its offers. A head stands for all of its catalog. */
async function cover({ reader, scope }: Tools, words: ReadonlyMap<WordEntry, Run>) {
  const offers = union(Array.from(words.values(), ({ keys }) => keys));
  const covering = offers.length > 0 ? await readCovering(reader, offers, scope.now) : [];
  const coversOf = new Map(covering.map(({ key, covers }) => [key, covers]));
  return new Map(
    Array.from(words, ([entry, { keys: offered, marks }]) => {
      const weights = new Map<number, number>();
      for (let index = 0; index < offered.length; index++)
        for (const key of coversOf.get(offered[index] as number) ?? [])
          weights.set(key, Math.max(weights.get(key) ?? 0, marks[index] as number));
      return [entry, toRun(weights)];
    }),
  );
}

function toRun(weights: ReadonlyMap<number, number>): Run {
  const keys = keysOf(weights.keys());
  return { keys, marks: Float64Array.from(keys, (key) => weights.get(key) ?? 0) };
}

/** Selects the offers in some runs that belong to one of the catalogs. */
function selectOf(runs: readonly Run[] = [], heads: Keys): Run {
  const weights = new Map<number, number>();
  for (const { keys, marks } of runs)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as number;
      if (hasKey(heads, headOf(key))) weights.set(key, marks[index] as number);
    }
  return toRun(weights);
}

/** Resources with the words, without repetitions. The rarest words come first. Batches are in key order, and are ranked together. */
async function* gatherResources(reader: IndexReader, entries: readonly WordEntry[]): AsyncGenerator<Keys> {
  let done: Keys = new Float64Array();
  let pending: Keys[] = [];
  let count = 0;
  for (const entry of entries)
    for await (const keys of streamPostings(reader, entry)) {
      let start = 0;
      for (const [index, key] of keys.entries()) {
        count += kindOf(key) === 'resource' ? 1 : countMembers(reader, key);
        if (count < maxRanked) continue;
        pending.push(keys.subarray(start, index + 1));
        const found = difference(await expand(pending), done);
        yield found;
        done = union([done, found]);
        [pending, count, start] = [[], 0, index + 1];
      }
      pending.push(keys.subarray(start));
    }
  if (count > 0) yield difference(await expand(pending), done);

  /** Words of a catalog, or of one of its offers, may count for all its resources. */
  async function expand(parts: readonly Keys[]): Promise<Keys> {
    const all = union(parts);
    const heads = headsOf(all.filter((key) => kindOf(key) !== 'resource'));
    return union([all.filter((key) => kindOf(key) === 'resource'), await listMembers(reader, heads)]);
  }
}

/** The postings of one word in batches: first the resources that offers cover, or these offers. */
async function* streamPostings(reader: IndexReader, { certain, offers, covered }: WordEntry) {
  if (covered && covered.keys.length > 0) yield covered.keys;
  for (const list of covered ? [certain] : [offers, certain]) {
    const next = streamRuns(reader, list);
    for (let part = await next(gatheredAtOnce); part; part = await next(gatheredAtOnce)) yield part.keys;
  }
}

function rarest(query: TextQuery, entries: ReadonlyMap<string, WordEntry>): WordEntry[] {
  const words = new Set(rarestFirst(query).map(({ word }) => word));
  return [...words].flatMap((word) => entries.get(word) ?? []);
}

function describe(query: TextQuery, entries: ReadonlyMap<string, WordEntry>): object[] {
  return query.words.map(({ word, variants }) => ({
    word,
    standsFor: variants.map((variant) => ({
      word: variant.word,
      form: variant.form,
      documents: entries.get(variant.word)?.documents ?? 0,
    })),
  }));
}
