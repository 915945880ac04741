import { findEdits, likenessOf } from './typing-errors.ts';

// Which indexed words a word of a query stands for, and how much each counts beside the word itself. Decided: always for the word; only where the index does not have it, for those that it may be misspelt
// of.

export type Form = 'exact' | 'misspelt';

/** As which form an indexed word is meant, and what it counts beside the word itself: at most 1. */
export interface Meaning {
  form: Form;
  weight: number;
}

/** What a word always stands for. */
export function nearMeaning(word: string, indexed: string): Meaning | undefined {
  return indexed === word ? { form: 'exact', weight: 1 } : undefined;
}

/** What a word stands for where the index does not have it. */
export function farMeaning(word: string, indexed: string): Meaning | undefined {
  const edits = findEdits(word, indexed);
  return edits
    ? { form: 'misspelt', weight: (edits === 1 ? 0.6 : 0.03) * likenessOf(word, indexed) ** 6 }
    : undefined;
}
