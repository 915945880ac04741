import type { Language } from '../../languages.ts';
import { commonWords } from './common-words.ts';
import { likenessOfSounds } from './sounds.ts';
import { type Stems, stemsOf } from './stems.ts';
import { findEdits, likenessOf } from './typing-errors.ts';
import { isUnspaced } from './words.ts';

// Which indexed words a query word matches, and how much each counts relative to the word itself. Decided: the word, its inflected forms and its spelling in another script always match. If the index lacks
// the word itself, longer words match that begin with it (for the last word of a query, which may be unfinished), and words that it may misspell. If there are none, the two parts match, if it is a compound
// of indexed words. Two neighbouring words of a query also match their compound.

export type Form = 'exact' | 'inflected' | 'other script' | 'joined' | 'part' | 'begun' | 'misspelt';

/** The form in which an indexed word matches, and its weight relative to the word itself: at most 1. */
export interface Meaning {
  form: Form;
  weight: number;
}

export interface TextWord {
  word: string;
  /** It may be the beginning of a word. */
  isLast: boolean;
  /** The two neighbouring words that it joins. */
  joins?: readonly [string, string];
}

export function textWords(words: readonly string[]): TextWord[] {
  const own = words.map((word, index) => ({ word, isLast: index === words.length - 1 }));
  const joined = words.slice(1).flatMap((second, index) => {
    const first = words[index] ?? '';
    const word = first + second;
    const isCompound = word.length >= minJoined && !words.includes(word) && !isUnspaced(word);
    if (!isCompound || commonWords.has(first) || commonWords.has(second)) return [];
    return [{ word, isLast: false, joins: [first, second] as const }];
  });
  return [...own, ...joined];
}

/** Minimum letters of two joined words, of a word that may be a compound, and of each of its parts. */
const minJoined = 4;
const minCompound = 6;
const minPart = 3;

/** Weight of a joined word relative to its two parts: the same as inflected forms. */
const joinedWeight = 0.9;

/** Words that always match a word. */
interface NearForms extends Pick<Stems, 'beginning' | 'maxLength'> {
  meaningOf(indexedWord: string): Meaning | undefined;
}

export function nearForms({ word, joins }: TextWord, languages: readonly Language[]): NearForms {
  const { isFormOf, ...range } = stemsOf(word, languages);
  return {
    ...(joins ? { beginning: undefined, maxLength: 0 } : range),
    meaningOf(indexed) {
      if (joins) return indexed === word ? { form: 'joined', weight: joinedWeight } : undefined;
      if (indexed === word) return { form: 'exact', weight: 1 };
      if (isFormOf(indexed)) return { form: 'inflected', weight: 0.9 };
      const likeness = likenessOfSounds(word, indexed);
      return likeness === undefined ? undefined : { form: 'other script', weight: 0.5 * likeness };
    },
  };
}

/** Words that match a word if the index lacks it. */
export function farMeaning({ word, isLast }: TextWord, indexed: string): Meaning | undefined {
  if (isLast && word.length >= minBegun && indexed.startsWith(word) && !isUnspaced(word))
    return { form: 'begun', weight: (0.7 * word.length) / indexed.length };
  const edits = findEdits(word, indexed);
  return edits
    ? { form: 'misspelt', weight: (edits === 1 ? 0.6 : 0.03) * likenessOf(word, indexed) ** 6 }
    : undefined;
}

/** Minimum letters of the last word. */
export const minBegun = 3;
/** Of words with the same beginning, the shortest ones count, and of equally long ones the first. */
export const maxBegun = 50;

/** The indexed words that begin with a word, up to the maximum. */
export function shortestFirst(words: readonly string[]): string[] {
  return [...words].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, maxBegun);
}

export function partsOf(word: string): [string, string][] {
  if (word.length < minCompound || !/^\p{L}+$/u.test(word) || isUnspaced(word)) return [];
  return Array.from({ length: word.length - 2 * minPart + 1 }, (_, index) => [
    word.slice(0, minPart + index),
    word.slice(minPart + index),
  ]);
}
