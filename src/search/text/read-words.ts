import type { Language } from '../../languages.ts';
import { textWords } from '../../rules/text/forms.ts';
import { isKnown, splitCompounds, type TextQuery, weighQuery } from '../../rules/text/rank.ts';
import type { Directory, Run, WordMatch } from '../cache/caches.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import { offerList, wordList } from '../lists/list-numbers.ts';
import { openLists } from '../lists/read-lists.ts';
import type { Tools } from '../tools.ts';
import { countDocuments, type MatchedWord, matchFar, matchWords } from './match-words.ts';

/** The index entries of one word. */
export interface WordEntry {
  word: string;
  id: number;
  /** Number of documents with the word. */
  documents: number;
  certain: Directory;
  /** Its entries in offers that may not cover a resource now. */
  offers: Directory;
  /** The resources that these offers cover, if they are few. */
  covered?: Run;
}

/** A text, and how to read it. */
export interface AskedText {
  text?: string;
  format: IndexFormat;
  languages: readonly Language[];
}

type Entries = Map<string, WordEntry>;

/** The words of the query, with their matches. */
export async function readWords(tools: Tools, { text = '', format, languages }: AskedText) {
  const { reader } = tools;
  const [found, documents] = await Promise.all([
    matchWords(reader, textWords(format.tokenizer.query(text)), format, languages),
    countDocuments(reader),
  ]);
  const opened: Entries = new Map();
  const documentsOf = (word: string) => opened.get(word)?.documents ?? 0;
  const count = (matches: readonly WordMatch[]) => countMatches(matches, documentsOf);
  const all = found.flatMap(({ near, far = [] }) => [...near, ...far]);
  await openEntries(tools, all, opened);
  const gone = found.filter(({ joins, near, far }) => !joins && !far && !isKnown(count(near)));
  const others = await matchFar(reader, gone, format);
  await openEntries(tools, [...others.values()].flat(), opened);
  const withFar = found.map((asked) => ({ ...asked, far: asked.far ?? others.get(asked) ?? [] }));
  const query = weighWords(withFar, documentsOf, documents);
  const entries: Entries = new Map();
  for (const { word } of query.words.flatMap(({ variants }) => variants)) {
    const entry = opened.get(word);
    if (entry) entries.set(word, entry);
  }
  return { query, entries };
}

const countMatches = (matches: readonly WordMatch[], documentsOf: (word: string) => number) =>
  matches.map((match) => ({ ...match, documents: documentsOf(match.word) }));

/** Weighs the words of a query by the share of documents with their matches. */
export function weighWords(
  found: readonly MatchedWord[],
  documentsOf: (word: string) => number,
  documents: number,
): TextQuery {
  const words = found.map(({ word, joins, near, far = [] }) => {
    const isNear = ({ word: other }: WordMatch) => near.some((match) => match.word === other);
    const matches = [...near, ...far.filter((match) => match.form !== 'part' && !isNear(match))];
    return { word, joins, matches: countMatches(matches, documentsOf) };
  });
  return weighQuery(splitCompounds(words, documentsOf), documents);
}

/** Opens the lists of words that are not open yet. */
async function openEntries({ reader }: Tools, matches: readonly WordMatch[], entries: Entries) {
  const found = matches.filter(({ word }) => !entries.has(word));
  const directories = await openLists(reader, [
    ...new Set(found.flatMap(({ id }) => [wordList(id), offerList(id)])),
  ]);
  for (const { word, id } of found) {
    const [certain, offers] = [directories.get(wordList(id)), directories.get(offerList(id))];
    if (certain && offers)
      entries.set(word, { word, id, documents: certain.count + offers.count, certain, offers });
  }
}
