import { createRequire } from 'node:module';
import { type Language, stemmers } from '../../languages.ts';

// Inflected forms of a word: those with the same stem. The plural and possessive s is removed in any language; other stems come from the stemmers of
// the service's languages (SEARCH_LANGUAGES). Each is loaded on demand.

const require = createRequire(import.meta.url);

type Stemmer = (word: string) => string;

const loaded = new Map<Language, Stemmer>();

function stemmerOf(language: Language): Stemmer {
  const known = loaded.get(language);
  if (known) return known;
  const { stemmer } = require(`@orama/stemmers/${stemmers[language]}`) as { stemmer: Stemmer };
  loaded.set(language, stemmer);
  return stemmer;
}

export interface Stems {
  /** All of them begin with it; undefined if a word is too short to have any. */
  beginning: string | undefined;
  /** No form is longer. */
  maxLength: number;
  isFormOf(word: string): boolean;
}

export function stemsOf(word: string, languages: readonly Language[]): Stems {
  const takers = [withoutPlural, ...languages.map(stemmerOf)];
  const stems = takers.map((stem) => stem(word));
  const shortest = Math.min(...stems.map(({ length }) => length));
  // A stem may end differently from its words: "batteri" of "battery".
  const beginning = word.slice(0, shortest > minBeginning ? shortest - 1 : shortest);
  const maxLength = word.length + maxSuffix;
  const isPossible = isOfLetters.test(word) && beginning.length >= minBeginning;
  return {
    beginning: isPossible ? beginning : undefined,
    maxLength,
    isFormOf: (other) =>
      isPossible &&
      other.length <= maxLength &&
      other.startsWith(beginning) &&
      isOfLetters.test(other) &&
      takers.some((stem, index) => stem(other) === stems[index]),
  };
}

const isOfLetters = /^[\p{L}\p{M}]+$/u;
const minBeginning = 3;
/** Maximum difference in letters between two forms. */
const maxSuffix = 4;

function withoutPlural(word: string): string {
  return /[^siu]s$/.test(word) && word.length > minBeginning ? word.slice(0, -1) : word;
}
