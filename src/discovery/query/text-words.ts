import { type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import { findEdits, queryKeys } from '../../rules/text/typing-errors.ts';
import { queryWords } from '../../rules/text/words.ts';
import { findCovered } from '../../storage/discovery-offers.ts';
import {
  countDocuments,
  countPostings,
  findWords,
  type KnownWord,
  type Postings,
  readPostings,
} from '../../storage/discovery-postings.ts';
import { hash53 } from '../index-entries.ts';
import type { WordPlaces } from './rank-keys.ts';
import type { Search } from './search.ts';

// The words of a text as the index knows them: what each may stand for in spite of typing errors, where that stands, and how rare it is.

/** The postings of words with fewer are read whole. */
const rarePostings = 1_000;
/** A word that stands in more documents is as common as one can be; of offers with it, these are looked at. */
const maxCounted = 10_000;

/** What the index has of one word: where it stands in resources, in what is said of catalogs, and in offers. */
export interface WordEntry extends WordPlaces {
  id: number;
  documents: number;
  /** Whether its postings are all there; of a common word they are the first. */
  isWhole: boolean;
  /** The most that it counts anywhere, in hundredths. */
  bestWeight: number;
}

export async function readWords(
  search: Search,
  text: string,
): Promise<{ query: TextQuery; entries: Map<string, WordEntry> }> {
  const matches = await findMatches(search, queryWords(text));
  const known = new Map(matches.flatMap((word) => word.matches).map((match) => [match.id, match]));
  const entries = await readEntries(search, known);
  const query = weighQuery(
    matches.map(({ word, matches: variants }) => ({
      word,
      matches: variants.map((variant) => ({
        ...variant,
        documents: entries.get(variant.word)?.documents ?? 0,
      })),
    })),
    known.size === 0 ? 0 : await countDocuments(search.database),
  );
  return { query, entries };
}

/** The indexed words that each word stands for. */
async function findMatches(
  { database }: Search,
  words: readonly string[],
): Promise<{ word: string; matches: (KnownWord & { edits: number })[] }[]> {
  const hashes = words.flatMap((word) => [...queryKeys(word)].map(hash53));
  const known = await findWords(database, words, hashes);
  return words.map((word) => {
    const matches = known.flatMap((each) => {
      const edits = findEdits(word, each.word);
      return edits === undefined ? [] : [{ ...each, edits }];
    });
    return { word, matches };
  });
}

async function readEntries(
  { database, plan }: Search,
  known: ReadonlyMap<number, KnownWord>,
): Promise<Map<string, WordEntry>> {
  if (known.size === 0) return new Map();
  const ids = [...known.keys()];
  const first = await readPostings(database, 'posting', ids, { limit: rarePostings });
  const inOffers = await readPostings(database, 'offer_posting', ids, { limit: maxCounted });
  const common = ids.filter((id) => (first.get(id)?.keys.length ?? 0) >= rarePostings);
  const counts =
    common.length > 0 ? await countPostings(database, common, maxCounted) : new Map<number, number>();
  const offerKeys = new Set([...inOffers.values()].flatMap(({ keys }) => keys));
  const covered = await findCovered(database, [...offerKeys], plan.gate);

  return new Map(
    [...known].map(([id, { word, best_weight: bestWeight }]) => {
      const { keys, weights } = first.get(id) ?? noPostings;
      const offers = asMap(inOffers.get(id) ?? noPostings);
      const offered = new Map<number, number>();
      for (const { offer_key, resource_key } of covered) {
        const weight = offers.get(offer_key);
        if (weight !== undefined) offered.set(resource_key, Math.max(weight, offered.get(resource_key) ?? 0));
      }
      const documents = (counts.get(id) ?? keys.length) + offers.size;
      return [word, { id, documents, keys, weights, isWhole: !counts.has(id), bestWeight, offered }];
    }),
  );
}

const noPostings: Postings = { keys: [], weights: [] };

function asMap({ keys, weights }: Postings): Map<number, number> {
  return new Map(keys.map((key, index) => [key, weights[index] ?? 0]));
}
