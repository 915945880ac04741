import { commonWords } from './common-words.ts';
import { type Form, type Meaning, partsOf, type TextWord } from './forms.ts';
import type { WordWeights } from './word-weights.ts';

/** How well a resource matches a text. Decided: any word may match; the rank is the sum of the rarity of the matched words. Other forms of a word count less (forms.ts). Undefined if no word matches. */
export function rankOf(query: TextQuery, documents: readonly WordWeights[]): TextRank | undefined {
  let [rank, band] = [0, 0];
  for (const { variants, rarity } of query.words) {
    const best = bestMatch(variants, documents);
    if (best === 0) continue;
    rank += best;
    const isExact = variants.some(
      ({ word, form }) => form === 'exact' && documents.some((weights) => (weights.get(word) ?? 0) > 0),
    );
    band += bandOf(rarity, isExact);
  }
  return rank === 0 ? undefined : { rank: roundRank(rank), band: roundRank(band) };
}

export interface TextRank {
  rank: number;
  /** The summed rarity of the matched query words, half for inexact matches: the same for all resources that have the same words. */
  band: number;
}

export function bandOf(rarity: number, isExact: boolean): number {
  return isExact ? rarity : rarity / 2;
}

/** The last digits of a sum of doubles depend on the order; equal ranks must be equal. */
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

export function weighQuery(words: readonly QueryWord[], documentCount: number): TextQuery {
  const rarities = new Map<string, number>();
  return {
    words: words.map(({ word, joins, matches }) => {
      const counted = isKnown(matches) ? matches.filter(({ form }) => isNear(form)) : matches;
      const together = counted.reduce((sum, { documents }) => sum + documents, 0);
      // A rare form or misspelling is not worth more than the word itself: they share their rarity.
      const own = rarity(word, together, documentCount);
      // A joined word is worth its two parts, however rare the joined spelling is. The parts come before it.
      const shared = joins?.reduce((sum, part) => sum + (rarities.get(part) ?? own), 0) ?? own;
      rarities.set(word, shared);
      return {
        word,
        rarity: shared,
        variants: counted.map(({ form, weight, ...match }) => ({
          word: match.word,
          form,
          weight: shared * weight,
        })),
      };
    }),
  };
}

/** Whether the index has the word itself: then it matches no longer words and no misspellings. */
export function isKnown(matches: QueryWord['matches']): boolean {
  return matches.some(({ form, documents }) => documents > 0 && form === 'exact');
}

function isNear(form: Form): boolean {
  return form !== 'begun' && form !== 'misspelt';
}

/** A word without matches that is a compound of indexed words is replaced by these: the most frequent ones. */
export function splitCompounds(
  words: readonly QueryWord[],
  documentsOf: (word: string) => number,
): QueryWord[] {
  return words.flatMap((asked) => {
    if (asked.joins || asked.matches.some(({ documents }) => documents > 0)) return [asked];
    const leastOf = (parts: readonly string[]) => Math.min(...parts.map(documentsOf));
    const [best] = partsOf(asked.word).sort((a, b) => leastOf(b) - leastOf(a));
    if (best === undefined || leastOf(best) === 0) return [asked];
    return best.map((word) => ({
      word,
      matches: [{ word, form: 'part' as const, weight: partWeight, documents: documentsOf(word) }],
    }));
  });
}

const partWeight = 0.8;

/** The inverse document frequency of BM25. A common word counts as if half of the documents had it: in an index of only names, "my" and "with" are rare. */
function rarity(queryWord: string, documents: number, documentCount: number): number {
  const count = Math.max(documents, documentCount);
  const frequency = commonWords.has(queryWord) ? Math.max(documents, count / 2) : documents;
  return Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

/** The indexed words of a query, rarest first: the order in which an index collects the candidates. */
export function rarestFirst({ words }: TextQuery): WordVariant[] {
  const variants = words.flatMap((each) => each.variants);
  return variants.sort((a, b) => b.weight - a.weight || (a.word < b.word ? -1 : 1));
}

/** The words with the variants of the highest weight; without those that no document has. */
export function limitVariants({ words }: TextQuery, most: number): AskedWord[] {
  const weights = words.flatMap(({ variants }) => variants.map(({ weight }) => weight)).sort((a, b) => b - a);
  const least = weights[most] ?? 0;
  return words
    .map((word) => ({ ...word, variants: word.variants.filter(({ weight }) => weight > least) }))
    .filter(({ variants }) => variants.length > 0);
}

interface QueryWord extends Pick<TextWord, 'joins'> {
  word: string;
  matches: readonly (Meaning & { word: string; documents: number })[];
}

export interface TextQuery {
  words: readonly AskedWord[];
}

export interface AskedWord {
  word: string;
  /** Shared by all words that it matches. */
  rarity: number;
  variants: readonly WordVariant[];
}

interface WordVariant {
  word: string;
  weight: number;
  form: Form;
}
