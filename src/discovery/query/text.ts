import { rarestFirst, type TextQuery } from '../../rules/text/rank.ts';
import { catalogKeyOf, keyOf, kindOf } from '../../storage/discovery-keys.ts';
import {
  type Postings,
  readPostings,
  readPostingsAt,
  readResourceKeys,
} from '../../storage/discovery-postings.ts';
import { rankKeys, type WordPlaces } from './rank-keys.ts';
import type { Search } from './search.ts';
import { readWords, type WordEntry } from './text-words.ts';

/** A text search: it proposes candidates, the rarest words first, and ranks whatever it is given. */
export interface TextSearch {
  /** How many candidates there are, at least. */
  estimate: number;
  /** The next resources that have one of the words, about so many, the best first; none when there are no more. */
  gather(limit: number): Promise<RankedKey[]>;
  /** No resource that was not gathered yet ranks higher. */
  bestUngathered(): number;
  /** Those among these resources that have one of the words. */
  rank(keys: readonly number[]): Promise<RankedKey[]>;
}

export interface RankedKey {
  key: number;
  rank: number;
}

export async function prepareText(search: Search, text: string): Promise<TextSearch> {
  const { query, entries } = await search.trace.time(
    'read words',
    () => readWords(search, text),
    (read) => ({ words: describe(read.query, read.entries) }),
  );
  const words = new Set(rarestFirst(query).map(({ word }) => word));
  const streams = [...words].flatMap((word) => {
    const entry = entries.get(word);
    return entry ? [wordStream(search, entry)] : [];
  });
  const seen = new Set<number>();

  async function rank(keys: readonly number[]): Promise<RankedKey[]> {
    const inOrder = [...keys].sort((a, b) => a - b);
    const places = await placesAmong(search, entries, inOrder);
    const ranks = rankKeys(query, inOrder, (word) => places.get(word));
    return inOrder.flatMap((key, index) => {
      const found = ranks[index] ?? 0;
      return found > 0 ? [{ key, rank: found }] : [];
    });
  }

  return {
    estimate: [...entries.values()].reduce(
      (sum, { documents, offered }) => sum + documents + offered.size,
      0,
    ),
    rank,
    async gather(limit) {
      const gathered: number[] = [];
      while (streams.length > 0 && gathered.length < limit) {
        search.deadline.check();
        for (const key of await resourcesOf(search, await nextOf(streams, limit - gathered.length))) {
          if (!seen.has(key)) gathered.push(key);
          seen.add(key);
        }
      }
      const ranked = await search.trace.time(
        'rank',
        () => rank(gathered),
        ({ length }) => ({ resources: length }),
      );
      return bestFirst(ranked);
    },
    bestUngathered() {
      const open = new Set(streams.map(({ entry }) => entry));
      return query.words.reduce((sum, { variants }) => {
        const best = variants.map(({ word, weight }) => {
          const entry = entries.get(word);
          return entry && open.has(entry) ? weight * (entry.bestWeight / 100) : 0;
        });
        return sum + Math.max(0, ...best);
      }, 0);
    },
  };
}

/** Of the rarest words first; those that have no more are left out from then on. */
async function nextOf(streams: WordStream[], limit: number): Promise<number[]> {
  const keys: number[] = [];
  for (let stream = streams[0]; stream && keys.length < limit; stream = streams[0]) {
    keys.push(...(await stream.next(limit - keys.length)));
    if (stream.isExhausted()) streams.shift();
  }
  return keys;
}

/** Ranks are few: sorting them is faster than sorting everything. Equal ones stay in the order of keys. */
function bestFirst(ranked: readonly RankedKey[]): RankedKey[] {
  const groups = new Map<number, RankedKey[]>();
  for (const each of ranked) {
    const group = groups.get(each.rank);
    if (group) group.push(each);
    else groups.set(each.rank, [each]);
  }
  return [...groups.keys()].sort((a, b) => b - a).flatMap((rank) => groups.get(rank) ?? []);
}

/** What is said of a catalog is said of all its resources. */
async function resourcesOf({ database }: Search, keys: readonly number[]): Promise<number[]> {
  const heads = keys.filter((key) => kindOf(key) === 'catalog');
  const resources = heads.length > 0 ? await readResourceKeys(database, heads) : [];
  return [...keys.filter((key) => kindOf(key) === 'resource'), ...resources];
}

/** The candidates of one indexed word, in the order of keys: of resources, and of catalogs. */
interface WordStream {
  entry: WordEntry;
  next(limit: number): Promise<number[]>;
  isExhausted(): boolean;
}

function wordStream({ database }: Search, entry: WordEntry): WordStream {
  const ready = [...new Set([...entry.offered.keys(), ...entry.keys])];
  let after = entry.keys.at(-1) ?? 0;
  let isRead = entry.isWhole;
  return {
    entry,
    isExhausted: () => ready.length === 0 && isRead,
    async next(limit) {
      if (ready.length > 0 || isRead) return ready.splice(0, limit);
      const read = await readPostings(database, 'posting', [entry.id], { after, limit });
      const keys = read.get(entry.id)?.keys ?? [];
      isRead = keys.length < limit;
      after = keys.at(-1) ?? after;
      return keys;
    },
  };
}

/** Fewer resources are looked up one by one. */
const fewKeys = 300;

/**
 * Where the words stand among these resources, whose keys are in order. A common word is read along them: as a rule it stands at many of
 * them. Where it stands at too many others, it is looked up for the rest.
 */
async function placesAmong(
  { database }: Search,
  entries: ReadonlyMap<string, WordEntry>,
  keys: readonly number[],
): Promise<Map<string, WordPlaces>> {
  const [first] = keys;
  const last = keys.at(-1);
  if (first === undefined || last === undefined) return new Map();
  const limit = keys.length <= fewKeys ? 0 : keys.length * 2;
  const after = keyOf(catalogKeyOf(first), 0) - 1;
  const common = [...entries].filter(([, { isWhole }]) => !isWhole);
  const ids = common.map(([, { id }]) => id);
  const along =
    limit > 0 ? await readPostings(database, 'posting', ids, { after, upTo: last, limit }) : new Map();
  const places = new Map<string, WordPlaces>(entries);
  for (const [word, entry] of common) {
    const read: Postings = along.get(entry.id) ?? { keys: [], weights: [] };
    const isWhole = limit > 0 && read.keys.length < limit;
    const rest = isWhole ? [] : withHeads(keys.filter((key) => key > (read.keys.at(-1) ?? 0)));
    const found =
      rest.length > 0 ? (await readPostingsAt(database, [entry.id], rest)).get(entry.id) : undefined;
    places.set(word, {
      offered: entry.offered,
      keys: [...read.keys, ...(found?.keys ?? [])],
      weights: [...read.weights, ...(found?.weights ?? [])],
    });
  }
  return places;
}

/** With the keys of their catalogs. */
function withHeads(keys: readonly number[]): number[] {
  return [...new Set(keys.flatMap((key) => [keyOf(catalogKeyOf(key), 0), key]))];
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
