import { type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import type { ListOutline } from '../cache/caches.ts';
import type { WordMatch } from '../cache/word-cache.ts';
import type { Search } from '../candidates.ts';
import { selectRows } from '../lists/columns.ts';
import type { Keys } from '../lists/key-sets.ts';
import { readWordLists } from '../lists/outlines.ts';
import { emptyList, type KeyList, type WholeList } from '../lists/posting-list.ts';
import { readRanges } from '../lists/read-parts.ts';
import { countKeys, divideHeads, emptyWhole } from '../lists/read-whole.ts';
import { abroadList, offerList, siblingList, standingList, wideList, wordList } from '../lists/runs.ts';
import { divideByHeads, findAway, type HomeWord, noHomeWord, readHomeWords } from './home-offers.ts';
import { matchWords } from './match-words.ts';
import { findOffered } from './offer-words.ts';
import { divideStanding, joinOffers } from './standing-words.ts';

// Reads the words of a text: which indexed words each matches in spite of typing errors, the postings of those, and how rare they are.

/** More offers with a word are not looked up at once: the resources that a search comes to are asked for theirs. */
const maxLookedUp = 1_000;

/** What the index has of one word. */
export interface WordEntry {
  id: number;
  /** In how many documents it stands. */
  documents: number;
  /** Its postings in resources and heads; of a common word, the first ones. */
  postings: ListOutline;
  /** What was read of these so far. */
  prefix: PostingsPrefix;
  /** The catalogs that have standing offers with it, and no siblings. */
  standing: WholeList;
  /** Other offers with it that can apply to resources of their own catalog alone. */
  home: HomeWord;
  /** Of all others: the resources that they name and apply to, and the catalogs that list wide ones. */
  offered: WholeList;
  /** Instead, where they are very many: these offers, none of which was looked up. */
  offers: KeyList;
}

interface PostingsPrefix {
  parts: WholeList[];
  /** Keys from this one on are not in it. */
  upTo: number;
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
  const { postings, lists } = await readLists(search, all);
  const offersIn = (list: number) => lists.get(list) ?? emptyWhole;
  const offersOf = (list: number) => restrictList(lookup, offersIn(list).others);
  const [siblings, abroad, wide] = reachLists.map((list) => offersIn(list).heads.keys) as [Keys, Keys, Keys];
  const standing = new Map(all.map((id) => [id, divideStanding(offersOf(standingList(id)), siblings)]));
  const away = findAway(search, { abroad, wide, siblings });
  const divided = new Map(all.map((id) => [id, divideByHeads(offersOf(offerList(id)), away)]));
  const offers = new Map(
    Array.from(divided, ([id, { among }]) => [id, joinOffers(among, standing.get(id)?.others ?? emptyList)]),
  );
  const isFew = ([, { keys }]: [number, KeyList]) => keys.length <= maxLookedUp;
  const [home, offered] = await Promise.all([
    readHomeWords(search, new Map(Array.from(divided, ([id, { others }]) => [id, others]))),
    findOffered(search, new Map([...offers].filter(isFew))),
  ]);
  const entries = Array.from(ids, ([word, id]): [string, WordEntry] => {
    const inWord = postings.get(wordList(id)) ?? noPostings;
    const { part } = inWord;
    const inOffers = countKeys(offersIn(offerList(id))) + countKeys(offersIn(standingList(id)));
    return [
      word,
      {
        id,
        documents: inWord.count + inOffers,
        postings: inWord,
        prefix: {
          parts: [restrictWhole(lookup, part)],
          upTo: part.rest?.from ?? Number.POSITIVE_INFINITY,
        },
        standing: standing.get(id)?.heads ?? emptyWhole,
        home: home.get(id) ?? noHomeWord,
        offered: offered.get(id) ?? emptyWhole,
        offers: offered.has(id) ? emptyList : (offers.get(id) ?? emptyList),
      },
    ];
  });
  return new Map(entries);
}

/** They tell which offers may apply to resources of other catalogs. */
const reachLists = [siblingList, abroadList, wideList];

const noPostings: ListOutline = { part: emptyWhole, count: 0 };

/** The same object where all documents are looked for. */
export function restrictWhole<T extends WholeList>(lookup: TextLookup, whole: T): T {
  if (lookup.isLookedFor === undefined) return whole;
  return { ...whole, heads: restrictList(lookup, whole.heads), others: restrictList(lookup, whole.others) };
}

function restrictList({ isLookedFor }: TextLookup, list: KeyList): KeyList {
  if (isLookedFor === undefined) return list;
  return selectRows(list, (index) => isLookedFor(list.keys[index] as number));
}

/** The lists of words, and those of offers to their ends. */
async function readLists({ database }: Search, ids: readonly number[]) {
  const wanted = [...reachLists, ...ids.flatMap((id) => [offerList(id), standingList(id)])];
  const { outlines, ofOffers } = await readWordLists(database, ids.map(wordList), wanted);
  const long = wanted.filter((list) => !ofOffers.has(list));
  for (const [list, all] of await readRanges(database, long, allKeys)) ofOffers.set(list, divideHeads(all));
  return { postings: outlines, lists: ofOffers };
}

const allKeys = { from: 0, upTo: Number.POSITIVE_INFINITY };
