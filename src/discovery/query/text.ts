import { rarestFirst, type TextQuery, type WordVariant } from '../../rules/text/rank.ts';
import { catalogKeyOf, keyOf } from '../../storage/discovery-keys.ts';
import { readPostings, readPostingsAt } from '../../storage/discovery-postings.ts';
import type { Search } from './search.ts';
import { readWords, type WordEntry } from './text-words.ts';

/** A text search: it proposes candidates, the rarest words first, and ranks whatever it is given. */
export interface TextSearch {
  /** How many candidates there are, at least. */
  estimate: number;
  streams: WordStream[];
  /** The ranks of those among these resources that have one of the words. */
  rank(keys: readonly number[]): Promise<Map<number, number>>;
  /** No resource that stands in none but these streams ranks higher. */
  bestRankIn(streams: readonly WordStream[]): number;
}

/** The candidates of one indexed word. */
export interface WordStream {
  word: string;
  /** The next keys, of resources and of catalogs; none when it is exhausted. */
  next(limit: number): Promise<number[]>;
}

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const { query, entries } = await search.trace.time(
    'read words',
    () => readWords(search, text),
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const variants = rarestFirst(query);
  const streams = [...new Set(variants.map(({ word }) => word))].flatMap((word) => {
    const entry = entries.get(word);
    return entry ? [wordStream(search, word, entry)] : [];
  });
  const common = [...entries.values()].filter(({ isWhole }) => !isWhole);

  return {
    estimate: [...entries.values()].reduce(
      (sum, { documents, offered }) => sum + documents + offered.size,
      0,
    ),
    streams,

    async rank(keys) {
      const places = new Map(keys.map((key) => [key, keyOf(catalogKeyOf(key), 0)]));
      const found = await readCommon(search, common, places);
      const weightAt = ({ id, postings, isWhole, offered }: WordEntry, key: number, head: number) => {
        const own = isWhole ? postings : found.get(id);
        return Math.max(own?.get(key) ?? 0, own?.get(head) ?? 0, offered.get(key) ?? 0) / 100;
      };
      const ranks = new Map<number, number>();
      for (const [key, head] of places) {
        let rank = 0;
        for (const { variants: each } of query.words) {
          rank += each.reduce((best, { word, weight }) => {
            const entry = entries.get(word);
            return entry ? Math.max(best, weight * weightAt(entry, key, head)) : best;
          }, 0);
        }
        if (rank > 0) ranks.set(key, Math.round(rank * rankPrecision) / rankPrecision);
      }
      return ranks;
    },

    bestRankIn(open) {
      const words = new Set(open.map(({ word }) => word));
      const best = (each: readonly WordVariant[]) =>
        each.reduce((most, { word, weight }) => (words.has(word) ? Math.max(most, weight) : most), 0);
      return query.words.reduce((sum, { variants: each }) => sum + best(each), 0);
    },
  };
}

/** Sums of doubles depend on their order in the last digits; equal ranks shall be equal (rules/text/rank.ts). */
const rankPrecision = 1_000_000_000;

/** Common words are looked up for these resources only. */
async function readCommon(
  { database }: Search,
  common: readonly WordEntry[],
  places: ReadonlyMap<number, number>,
): Promise<Map<number, Map<number, number>>> {
  if (common.length === 0 || places.size === 0) return new Map();
  const keys = [...new Set([...places.keys(), ...places.values()])];
  const postings = await readPostingsAt(
    database,
    common.map(({ id }) => id),
    keys,
  );
  return new Map(
    [...postings].map(([id, { keys: at, weights }]) => [
      id,
      new Map(at.map((key, index) => [key, weights[index] ?? 0])),
    ]),
  );
}

function wordStream({ database }: Search, word: string, entry: WordEntry): WordStream {
  const ready = [...new Set([...entry.offered.keys(), ...entry.postings.keys()])];
  let after = Math.max(0, ...entry.postings.keys());
  let isExhausted = entry.isWhole;
  return {
    word,
    async next(limit) {
      if (ready.length > 0) return ready.splice(0, limit);
      if (isExhausted) return [];
      const read = await readPostings(database, 'posting', [entry.id], { after, limit });
      const keys = read.get(entry.id)?.keys ?? [];
      isExhausted = keys.length < limit;
      after = keys.at(-1) ?? after;
      return keys;
    },
  };
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
