import { type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import { queryKeys } from '../../rules/text/typing-errors.ts';
import { queryWords } from '../../rules/text/words.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { Search } from '../candidates.ts';
import type { KeyList } from '../lists/posting-list.ts';
import { type ListRest, readLists } from '../lists/read-parts.ts';
import { countKeys, divideHeads, emptyWhole, readWholeLists, type WholeList } from '../lists/read-whole.ts';
import { everyResource, offerList, wordList } from '../lists/runs.ts';
import { hash53 } from '../write/attribute-entries.ts';
import { countLists, matchWords } from './match-words.ts';
import { findOffered } from './offer-words.ts';

// Reads the words of a text: which indexed words each matches in spite of typing errors, the postings of those, and how rare they are.

/** A run has up to 320 keys: of a list that is too long to be read whole, some thousand are read at once. */
const firstRuns = 32;

/** What the index has of one word. */
export interface WordEntry {
  id: number;
  /** In how many documents it stands. */
  documents: number;
  /** Its postings in resources and heads; of a word that is too common, the first ones. */
  postings: WordPostings;
  /** The resources that offers with it name and apply to, and the catalogs that list its wide offers. */
  offered: WholeList;
}

export interface WordPostings extends WholeList {
  /** Where the next part begins. */
  rest?: ListRest;
}

export interface KnownText {
  query: TextQuery;
  entries: Map<string, WordEntry>;
  /** Every resource there is, unless they are too many. */
  every?: KeyList;
  /** How many documents there are, about. */
  documents: number;
}

export async function readWords(search: Search, text: string): Promise<KnownText> {
  const words = queryWords(text);
  const typingKeysOf = (word: string) => Array.from(queryKeys(word), hash53);
  const { matches, documents } = await matchWords(search.database, words, typingKeysOf);
  const { entries, every } = await readEntries(search, new Set(matches.flatMap((each) => each.matches)));
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
  return { query, entries, every, documents };
}

async function readEntries(
  search: Search,
  words: Iterable<WordMatch>,
): Promise<Pick<KnownText, 'entries' | 'every'>> {
  const ids = new Map(Array.from(words, ({ word, id }) => [word, id]));
  const lists = [...ids.values()].flatMap((id) => [wordList(id), offerList(id)]);
  const { found, counts } = await readPostings(search, [everyResource, ...lists]);
  const postingsOf = (list: number) => found.get(list) ?? emptyWhole;
  const countOf = (list: number) => counts.get(list) ?? countKeys(postingsOf(list));
  const offered = await findOffered(
    search,
    new Map([...ids.values()].map((id) => [id, postingsOf(offerList(id)).others])),
  );
  const entries = Array.from(ids, ([word, id]): [string, WordEntry] => [
    word,
    {
      id,
      documents: countOf(wordList(id)) + countOf(offerList(id)),
      postings: postingsOf(wordList(id)),
      offered: offered.get(id) ?? emptyWhole,
    },
  ]);
  const every = found.get(everyResource);
  return { entries: new Map(entries), ...(every && !every.rest && { every: every.others }) };
}

/** Lists, and of those that are too long their beginnings, and how many keys they have. */
async function readPostings(
  { database }: Search,
  lists: readonly number[],
): Promise<{ found: Map<number, WordPostings>; counts: Map<number, number> }> {
  const found = new Map<number, WordPostings>(await readWholeLists(database, lists));
  const long = lists.filter((list) => !found.has(list));
  if (long.length === 0) return { found, counts: new Map() };
  for (const [list, { rest, ...part }] of await readLists(database, long, firstRuns))
    found.set(list, { ...divideHeads(part), ...(rest && { rest }) });
  return { found, counts: await countLists(database, long) };
}
