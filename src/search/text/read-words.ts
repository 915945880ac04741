import { type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { Search } from '../candidates.ts';
import { selectRows } from '../lists/columns.ts';
import { emptyList, type KeyList } from '../lists/posting-list.ts';
import { type ListRest, readLists, readRanges } from '../lists/read-parts.ts';
import { countKeys, divideHeads, emptyWhole, readWholeLists, type WholeList } from '../lists/read-whole.ts';
import { offerList, siblingList, standingList, wordList } from '../lists/runs.ts';
import { countLists, matchWords } from './match-words.ts';
import { findOffered } from './offer-words.ts';
import { divideStanding, joinOffers } from './standing-words.ts';

// Reads the words of a text: which indexed words each matches in spite of typing errors, the postings of those, and how rare they are.

/** A run has up to 320 keys: of a list that is too long to be read whole, some thousand are read at once. */
const firstRuns = 32;
/** More offers with a word are not looked up at once: the resources that a search comes to are asked for theirs. */
const maxLookedUp = 10_000;

/** What the index has of one word. */
export interface WordEntry {
  id: number;
  /** In how many documents it stands. */
  documents: number;
  /** Its postings in resources and heads; of a word that is too common, the first ones. */
  postings: WordPostings;
  /** The catalogs that have standing offers with it, and no siblings. */
  standing: WholeList;
  /** Of other offers with it: the resources that they name and apply to, and the catalogs that list wide ones. */
  offered: WholeList;
  /** Instead, where they are very many: these offers, none of which was looked up. */
  offers: KeyList;
}

interface WordPostings extends WholeList {
  /** Where the next part begins. */
  rest?: ListRest;
}

export interface KnownText {
  lookup: TextLookup;
  query: TextQuery;
  entries: Map<string, WordEntry>;
}

/** The words that a text is looked for by, and in which documents. */
export interface TextLookup {
  words: readonly string[];
  /** Those whose format looks for these words; undefined: all. */
  isLookedFor?(key: number): boolean;
}

/** One for each way in which the formats of the index cut the text into words. */
export function planLookups(
  { formats, versions }: Pick<Search, 'formats' | 'versions'>,
  text: string,
): TextLookup[] {
  const groups = new Map<string, { words: string[]; versions: Set<number> }>();
  for (const { version, tokenizer } of formats) {
    const words = tokenizer.query(text);
    const group = groups.get(JSON.stringify(words)) ?? { words, versions: new Set() };
    group.versions.add(version);
    groups.set(JSON.stringify(words), group);
  }
  const all = [...groups.values()];
  if (all.length === 1 || versions === undefined) return all.slice(0, 1);
  return all.map((group) => ({
    words: group.words,
    isLookedFor: (key) => group.versions.has(versions.versionOf(key)),
  }));
}

export async function readWords(search: Search, lookup: TextLookup): Promise<KnownText> {
  // A word may have the keys of one format alone; the edit distance decides.
  const typingKeysOf = (word: string) => new Set(search.formats.flatMap(({ typing }) => typing.query(word)));
  const { matches, documents } = await matchWords(search.database, lookup.words, typingKeysOf);
  const words = new Set(matches.flatMap((each) => each.matches));
  const entries = await readEntries(search, words, lookup);
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
  return { lookup, query, entries };
}

async function readEntries(
  search: Search,
  words: Iterable<WordMatch>,
  lookup: TextLookup,
): Promise<KnownText['entries']> {
  const ids = new Map(Array.from(words, ({ word, id }) => [word, id]));
  const all = [...ids.values()];
  const ofOffers = all.flatMap((id) => [offerList(id), standingList(id)]);
  const { found, counts } = await readPostings(search, all.map(wordList), [siblingList, ...ofOffers]);
  const postingsOf = (list: number) => found.get(list) ?? emptyWhole;
  const countOf = (list: number) => counts.get(list) ?? countKeys(postingsOf(list));
  const offersOf = (list: number) => restrictList(lookup, postingsOf(list).others);
  const siblings = postingsOf(siblingList).heads.keys;
  const standing = new Map(all.map((id) => [id, divideStanding(offersOf(standingList(id)), siblings)]));
  const offers = new Map(
    all.map((id) => [id, joinOffers(offersOf(offerList(id)), standing.get(id)?.others ?? emptyList)]),
  );
  const isFew = ([, { keys }]: [number, KeyList]) => keys.length <= maxLookedUp;
  const offered = await findOffered(search, new Map([...offers].filter(isFew)));
  const entries = Array.from(ids, ([word, id]): [string, WordEntry] => [
    word,
    {
      id,
      documents: countOf(wordList(id)) + countOf(offerList(id)) + countOf(standingList(id)),
      postings: restrictWhole(lookup, postingsOf(wordList(id))),
      standing: standing.get(id)?.heads ?? emptyWhole,
      offered: offered.get(id) ?? emptyWhole,
      offers: offered.has(id) ? emptyList : (offers.get(id) ?? emptyList),
    },
  ]);
  return new Map(entries);
}

/** The same object where all documents are looked for. */
export function restrictWhole<T extends WholeList>(lookup: TextLookup, whole: T): T {
  if (lookup.isLookedFor === undefined) return whole;
  return { ...whole, heads: restrictList(lookup, whole.heads), others: restrictList(lookup, whole.others) };
}

function restrictList({ isLookedFor }: TextLookup, list: KeyList): KeyList {
  if (isLookedFor === undefined) return list;
  return selectRows(list, (index) => isLookedFor(list.keys[index] as number));
}

/** Lists, and of those that are too long their beginnings, and how many keys they have; lists of offers to their ends. */
async function readPostings(
  { database }: Search,
  lists: readonly number[],
  offers: readonly number[],
): Promise<{ found: Map<number, WordPostings>; counts: Map<number, number> }> {
  const found = new Map<number, WordPostings>(await readWholeLists(database, [...lists, ...offers]));
  const isLong = (list: number) => !found.has(list);
  const [long, longOffers] = [lists.filter(isLong), offers.filter(isLong)];
  for (const [list, { rest, ...part }] of await readLists(database, long, firstRuns))
    found.set(list, { ...divideHeads(part), ...(rest && { rest }) });
  for (const [list, all] of await readRanges(database, longOffers, allKeys))
    found.set(list, divideHeads(all));
  return { found, counts: await countLists(database, long) };
}

const allKeys = { from: 0, upTo: Number.POSITIVE_INFINITY };
