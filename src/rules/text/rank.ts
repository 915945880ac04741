import { commonWords } from './common-words.ts';
import type { WordWeights } from './word-weights.ts';

/**
 * How well a resource answers a text, from the words of its own and of what it belongs to. Decided: any word may match; the rank
 * is the sum of the rarity of the matched words, so that more and rarer ones come first, and what stands in every
 * sentence counts next to nothing. An exact word always counts more than one with a typing error. Undefined where no word matches.
 */
export function rankOf(query: TextQuery, documents: readonly WordWeights[]): number | undefined {
  let rank: number | undefined;
  for (const { variants } of query.words) {
    const best = bestMatch(variants, documents);
    if (best > 0) rank = (rank ?? 0) + best;
  }
  return rank === undefined ? undefined : roundRank(rank);
}

/** Sums of doubles depend on their order in the last digits; equal ranks shall be equal. */
export function roundRank(rank: number): number {
  return Math.round(rank * rankPrecision) / rankPrecision;
}

const rankPrecision = 1_000_000_000;

function bestMatch(variants: readonly WordVariant[], documents: readonly WordWeights[]): number {
  let best = 0;
  for (const { word, weight } of variants) {
    for (const weights of documents) best = Math.max(best, weight * (weights.get(word) ?? 0));
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
            rarity(word, match.edits === 0 ? match.documents : together, documentCount) *
            editWeight(match.edits),
        })),
      };
    }),
  };
}

/** A word in the best field with one edit counts less than in the worst field without. */
function editWeight(edits: number): number {
  return edits === 0 ? 1 : edits === 1 ? 0.6 : 0.4;
}

/**
 * The inverse document frequency of BM25: near zero for what stands everywhere, never zero. In an index of mere names, "my"
 * and "with" are rare; a common word is taken for one that every second document has.
 */
function rarity(queryWord: string, documents: number, documentCount: number): number {
  const count = Math.max(documents, documentCount);
  const frequency = commonWords.has(queryWord) ? Math.max(documents, count / 2) : documents;
  return Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

/** The indexed words that a query looks for, rarest first: the order in which an index gathers what it ranks. */
export function rarestFirst({ words }: TextQuery): WordVariant[] {
  const variants = words.flatMap((each) => each.variants);
  return variants.sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1));
}

/** A word of a query, with the indexed words that it stands for: itself, and those within its allowed edits. */
interface QueryWord {
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
