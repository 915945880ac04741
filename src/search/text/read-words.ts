import type { Language } from '../../languages.ts';
import { textWords } from '../../rules/text/forms.ts';
import { isKnown, splitCompounds, weighQuery } from '../../rules/text/rank.ts';
import type { Directory, Run } from '../cache/caches.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { offerList, wordList } from '../lists/list-numbers.ts';
import { openLists } from '../lists/read-lists.ts';
import type { Tools } from '../tools.ts';
import { countDocuments, type MatchedWord, matchFar, matchNear } from './match-words.ts';

/** What the index has of one word. */
export interface WordEntry {
  word: string;
  id: number;
  /** In how many documents it stands. */
  documents: number;
  certain: Directory;
  /** In offers that may not cover a resource now. */
  offers: Directory;
  /** What these cover, where they are few. */
  covered?: Run;
}

/** A text, and how it is read. */
export interface AskedText {
  text?: string;
  format: IndexFormat;
  languages: readonly Language[];
}

/** The words of the query with what they stand for: only those that the index does not have are looked up once more, for what they may be meant to be. */
export async function readWords(tools: Tools, { text = '', format, languages }: AskedText) {
  const { reader } = tools;
  const [near, documents] = await Promise.all([
    matchNear(reader, textWords(format.tokenizer.query(text)), format, languages),
    countDocuments(reader),
  ]);
  const opened = new Map<string, WordEntry>();
  const documentsOf = (word: string) => opened.get(word)?.documents ?? 0;
  const count = async (words: readonly MatchedWord[]) => {
    await openEntries(tools, words, opened);
    return words.map((each) => ({
      ...each,
      matches: each.matches.flatMap((match) =>
        match.form === 'part' ? [] : [{ ...match, documents: documentsOf(match.word) }],
      ),
    }));
  };
  const known = await count(near);
  const unknown = known.filter(({ joins, matches }) => !joins && !isKnown(matches));
  const far = unknown.length > 0 ? await count(await matchFar(reader, unknown, format)) : [];
  const words = known.map(({ word, matches, joins }) => {
    const isNear = (indexed: string) => matches.some((match) => match.word === indexed);
    const others = joins ? [] : far.filter((each) => each.word === word).flatMap((each) => each.matches);
    return { word, joins, matches: [...matches, ...others.filter((match) => !isNear(match.word))] };
  });
  const query = weighQuery(splitCompounds(words, documentsOf), documents);
  const entries = new Map<string, WordEntry>();
  for (const { word } of query.words.flatMap(({ variants }) => variants)) {
    const entry = opened.get(word);
    if (entry) entries.set(word, entry);
  }
  return { query, entries };
}

/** Opens the lists of the words that are not open yet. */
async function openEntries(
  { reader }: Tools,
  words: readonly MatchedWord[],
  entries: Map<string, WordEntry>,
): Promise<void> {
  const found = words.flatMap(({ matches }) => matches).filter(({ word }) => !entries.has(word));
  const directories = await openLists(reader, [
    ...new Set(found.flatMap(({ id }) => [wordList(id), offerList(id)])),
  ]);
  for (const { word, id } of found) {
    const [certain, offers] = [directories.get(wordList(id)), directories.get(offerList(id))];
    if (certain && offers)
      entries.set(word, { word, id, documents: certain.count + offers.count, certain, offers });
  }
}
