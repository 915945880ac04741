import { type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import { findEdits, queryKeys } from '../../rules/text/typing-errors.ts';
import { queryWords } from '../../rules/text/words.ts';
import { type ListPart, readLists } from '../../storage/discovery-list-reader.ts';
import { offerList, wordList } from '../../storage/discovery-lists.ts';
import { type AppliedOffer, findCovered } from '../../storage/discovery-offers.ts';
import { countLists, findWords, type KnownWord } from '../../storage/discovery-word-search.ts';
import { emptyList, inOrder, type KeyList } from '../../storage/key-list.ts';
import { hash53 } from '../index-entries.ts';
import type { Search } from './candidates.ts';

// The words of a text as the index knows them: what each may stand for in spite of typing errors, where that stands, and how rare it is.

/** A run has up to 320 keys: some thousand are read at once, and of offers these are all that are looked at. */
const firstRuns = 32;

/** What the index has of one word. */
export interface WordEntry {
  id: number;
  /** In how many documents it stands. */
  documents: number;
  /** Where it stands in resources and in what is said of catalogs; of a common word the beginning. */
  list: ListPart;
  /** The resources of the offers that it stands in. */
  offered: KeyList;
}

export interface KnownText {
  query: TextQuery;
  entries: Map<string, WordEntry>;
}

export async function readWords(search: Search, text: string): Promise<KnownText> {
  const words = queryWords(text);
  const hashes = words.flatMap((word) => [...queryKeys(word)].map(hash53));
  const { known, documents } = await findWords(search.database, words, hashes);
  const matches = words.map((word) => ({ word, matches: matchesOf(word, known) }));
  const entries = await readEntries(search, new Set(matches.flatMap((each) => each.matches)));
  const query = weighQuery(
    matches.map((each) => ({
      word: each.word,
      matches: each.matches.map(({ word, edits }) => ({
        word,
        edits,
        documents: entries.get(word)?.documents ?? 0,
      })),
    })),
    documents,
  );
  return { query, entries };
}

/** The indexed words that a word stands for. */
function matchesOf(word: string, known: readonly KnownWord[]): (KnownWord & { edits: number })[] {
  return known.flatMap((each) => {
    const edits = findEdits(word, each.word);
    return edits === undefined ? [] : [{ ...each, edits }];
  });
}

async function readEntries(search: Search, words: Iterable<KnownWord>): Promise<Map<string, WordEntry>> {
  const ids = new Map(Array.from(words, ({ word, id }) => [word, id]));
  const names = [...ids.values()].flatMap((id) => [wordList(id), offerList(id)]);
  const lists = await readLists(search.database, names, firstRuns);
  const common = [...lists].filter(([, { rest }]) => rest).map(([list]) => list);
  const counts = common.length > 0 ? await countLists(search.database, common) : new Map<number, number>();
  const offers = new Map([...ids.values()].map((id) => [id, lists.get(offerList(id)) ?? emptyList]));
  const offered = await readOffered(search, offers);
  const countOf = (list: number) => counts.get(list) ?? lists.get(list)?.keys.length ?? 0;
  return new Map(
    [...ids].map(([word, id]) => [
      word,
      {
        id,
        documents: countOf(wordList(id)) + countOf(offerList(id)),
        list: lists.get(wordList(id)) ?? emptyList,
        offered: offered.get(id) ?? emptyList,
      },
    ]),
  );
}

/** The resources that offers with each word apply to now. */
async function readOffered(
  { database, plan }: Search,
  offers: ReadonlyMap<number, KeyList>,
): Promise<Map<number, KeyList>> {
  const all = new Set([...offers.values()].flatMap(({ keys }) => [...keys]));
  if (all.size === 0) return new Map();
  const covered = await findCovered(database, [...all], plan.gate);
  return new Map([...offers].map(([id, list]) => [id, resourcesOf(list, covered)]));
}

function resourcesOf({ keys, weights }: KeyList, covered: readonly AppliedOffer[]): KeyList {
  const weightOf = new Map(Array.from(keys, (key, index) => [key, weights[index] ?? 0]));
  const best = new Map<number, number>();
  for (const { offer_key, resource_key } of covered) {
    const weight = weightOf.get(offer_key);
    if (weight !== undefined) best.set(resource_key, Math.max(weight, best.get(resource_key) ?? 0));
  }
  return inOrder({ keys: Float64Array.from(best.keys()), weights: Uint8Array.from(best.values()) });
}
