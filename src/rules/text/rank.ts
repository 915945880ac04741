import type { DocumentWords, TextField, TextLevel } from './searched-texts.ts';

/**
 * How well a resource answers a text. Decided: any word may match; the rank is the sum of the rarity of the matched words,
 * so that more and rarer ones come first, and what stands in every sentence counts next to nothing. A name counts a
 * little more than a description, that more than an attribute, the resource's own texts more than those of its catalog,
 * provider and offers, but none of it as much as a second word. An exact word always counts more than one with a typing error.
 * Undefined where no word matches.
 */
export function rankOf(query: TextQuery, documents: readonly LeveledWords[]): number | undefined {
  let rank: number | undefined;
  for (const { variants } of query.words) {
    const best = bestMatch(variants, documents);
    if (best > 0) rank = (rank ?? 0) + best;
  }
  return rank === undefined ? undefined : Math.round(rank * rankPrecision) / rankPrecision;
}

/** Sums of doubles depend on their order in the last digits; equal ranks shall be equal. */
const rankPrecision = 1_000_000_000;

/** What a word counts for where it stands, apart from its rarity: whole hundredths. */
export function wordWeight(level: TextLevel, field: TextField): number {
  return (fieldWeights[field] * levelWeights[level]) / 100;
}

const fieldWeights: Record<TextField, number> = { name: 10, description: 9, attribute: 8 };
const levelWeights: Record<TextLevel, number> = { resource: 10, offer: 9, provider: 9, catalog: 9 };
/** By edit distance. The best place with one edit counts less than the worst without. */
const editWeights = [1, 0.6, 0.4];

function bestMatch(variants: readonly WordVariant[], documents: readonly LeveledWords[]): number {
  let best = 0;
  for (const { word, weight } of variants) {
    for (const { level, words } of documents) {
      const field = words.get(word);
      if (field !== undefined) best = Math.max(best, weight * wordWeight(level, field));
    }
  }
  return best;
}

/** The weights of the words of a query, from how many documents of an index have each word that they stand for. */
export function weighQuery(words: readonly QueryWord[], documentCount: number): TextQuery {
  return {
    words: words.map(({ word, matches }) => {
      const together = matches.reduce((sum, { documents }) => sum + documents, 0);
      return {
        word,
        variants: matches.map((match) => ({
          word: match.word,
          // A rare misspelling is not worth more than the word itself: variants share their rarity.
          weight:
            rarity(match.edits === 0 ? match.documents : together, documentCount) *
            (editWeights[match.edits] ?? 0),
        })),
      };
    }),
  };
}

/** The inverse document frequency of BM25: near zero for what stands everywhere, never zero. */
function rarity(documents: number, documentCount: number): number {
  const count = Math.max(documents, documentCount);
  return Math.log(1 + (count - documents + 0.5) / (documents + 0.5));
}

/** The indexed words that a query looks for, rarest first: the order in which an index gathers what it ranks. */
export function rarestFirst({ words }: TextQuery): WordVariant[] {
  const variants = words.flatMap((each) => each.variants);
  return variants.sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1));
}

/** A word of a query, with the indexed words that it stands for: itself, and those within its allowed edits. */
export interface QueryWord {
  word: string;
  matches: readonly { word: string; edits: number; documents: number }[];
}

export interface TextQuery {
  words: readonly { word: string; variants: readonly WordVariant[] }[];
}

export interface WordVariant {
  word: string;
  weight: number;
}

/** The words of a resource, or of a catalog, provider or offer that belongs to it. */
export interface LeveledWords {
  level: TextLevel;
  words: DocumentWords;
}
