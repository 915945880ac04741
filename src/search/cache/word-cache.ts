import { LruCache } from '../../lru-cache.ts';
import { ownText } from '../../own-text.ts';
import type { Meaning } from '../../rules/text/forms.ts';

// A cache of which indexed words a word of a query matches. An entry is valid until a word is added that it matches, too; one that has been deleted finds nothing, and comes back with another number.

/** An indexed word that a word stands for. */
export interface WordMatch extends Meaning {
  id: number;
  word: string;
}

/** Whether a word matches another one; `isAlike`: they share enough letters for one to be the other misspelt. */
type StandsFor = (indexedWord: string, isAlike: boolean) => boolean;

interface Kept {
  matches: readonly WordMatch[];
  letters: number;
  standsFor: StandsFor;
}

export class WordCache {
  /** How many documents the index has, unless it has changed since they were counted. */
  documents?: number;
  private readonly words: LruCache<string, Kept>;

  constructor(maxMatches: number) {
    // The entry of a word takes as much as a match.
    this.words = new LruCache(maxMatches, ({ matches }) => matches.length + 1);
  }

  find(word: string): readonly WordMatch[] | undefined {
    return this.words.find(word)?.matches;
  }

  keep(word: string, matches: readonly WordMatch[], standsFor: StandsFor): void {
    this.words.keep(ownText(word), { matches, letters: maskLetters(word), standsFor });
  }

  /** The index has changed, and these words are new to it; null: many are. */
  noteChange(added: readonly string[] | null): void {
    this.documents = undefined;
    const isLong = added === null || added.length * this.words.count > maxCompared;
    if (isLong) this.words.clear();
    for (const word of isLong ? [] : added) {
      const letters = maskLetters(word);
      for (const [known, kept] of this.words.entries())
        if (kept.standsFor(word, countBits(kept.letters ^ letters) <= maxDifferent)) this.words.forget(known);
    }
  }

  clear(): void {
    this.documents = undefined;
    this.words.clear();
  }
}

/** As many as are told apart in ten milliseconds. */
const maxCompared = 200_000;

/** A bit for each letter of a word. Most words are told apart by that: in the time of one edit distance, thousands. */
function maskLetters(word: string): number {
  let letters = 0;
  for (const letter of word) {
    const code = letter.codePointAt(0) ?? 0;
    if (code >= firstLetter) letters |= 1 << (code % 32);
  }
  return letters;
}

/** Code of "a". Below it are signs, by which names of entries differ, and digits, which are never mistyped. */
const firstLetter = 97;

/** Each of two typing errors may take one letter away and bring another. */
const maxDifferent = 4;

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
