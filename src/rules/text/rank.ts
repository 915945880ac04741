import type { WordWeights } from './word-weights.ts';
import { foldText } from './words.ts';

/**
 * How well a resource answers a text, from the words of its own and of what it belongs to. Decided: any word may match; the rank
 * is the sum of the rarity of the matched words, so that more and rarer ones come first, and what stands in every
 * sentence counts next to nothing. An exact word always counts more than one with a typing error. Undefined where no word matches.
 */
export function rankOf(query: TextQuery, documents: readonly WordWeights[]): TextRank | undefined {
  let [rank, band] = [0, 0];
  for (const { variants, rarity } of query.words) {
    const best = bestMatch(variants, documents);
    if (best === 0) continue;
    rank += best;
    const isExact = variants.some(
      ({ word, isExact }) => isExact && documents.some((weights) => (weights.get(word) ?? 0) > 0),
    );
    band += bandOf(rarity, isExact);
  }
  return rank === 0 ? undefined : { rank: roundRank(rank), band: roundRank(band) };
}

export interface TextRank {
  rank: number;
  /** The summed rarity of the query words that matched, half for those that did not match exactly: the same for all resources that have the same words. */
  band: number;
}

export function bandOf(rarity: number, isExact: boolean): number {
  return isExact ? rarity : rarity / 2;
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
      const exact = matches.find(({ edits }) => edits === 0);
      return {
        word,
        rarity: rarity(word, exact?.documents ?? together, documentCount),
        variants: matches.map((match) => ({
          word: match.word,
          isExact: match.edits === 0,
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
  words: readonly AskedWord[];
}

export interface AskedWord {
  word: string;
  /** Of the word itself, or of all that it stands for where it is not in the index. */
  rarity: number;
  variants: readonly WordVariant[];
}

export interface WordVariant {
  word: string;
  weight: number;
  /** It is the word of the query. */
  isExact: boolean;
}

/**
 * Words of whole sentences that say little about what is looked for, in the languages in which sentences are most likely. They match
 * like all others and only weigh less; no language depends on being here, because a word that is common in the
 * index weighs little anyway. Words that name things in another of these languages are left out ("fur", "hat", "pour").
 */
const commonWords: ReadonlySet<string> = new Set(
  [
    `a am an and any are as at be been but by can could did do does find for from get give had has have he her his how i if in into
     is it its like looking me my near nearby need no not of on or our please search she show some something somewhere than that the
     their them then there these they this to us want was we were what when where which who with would you your buy best good`,
    `aber alle auch auf aus bei bitte brauche das dass dem den der des ein eine einem einen einer es gibt ich im ist kaufen mein
     meine mit nach nicht oder ohne sie sind suche und von was welche wie wir wo zum zur`,
    `au aux avec ce ces cette cherche dans de des du elle est et il je la le les ma mes mon nous ou par pas que qui sans sont un une
     vous voudrais`,
    `al busco como con cual de del donde el en es esta las los me mi necesito para por que quiero se sin su un una unos y`,
    `ao com da das do dos e em esta meu minha na nas no nos num o onde os ou para pelo por preciso procuro quero sem seu sua um uma`,
    `cerco che con del della delle di dove e gli il la le lo mi nel per un una vorrei`,
    `aan een en het hoe ik is met mijn naar niet of op uit van voor waar wat zoek`,
    `в и на с по для из или не что где как я мне мы это хочу ищу`,
    `और एक का की के को चाहिए तो था थी थे ने पर पास भी मुझे में मेरे यह या ये लिए वह से है हैं हूँ कहाँ क्या नहीं`,
  ].flatMap((words) => foldText(words).split(/\s+/)),
);
