import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import { type SearchedText, textsOf, textsOfCatalog } from './searched-texts.ts';
import { indexedWords, type Tokenizer } from './words.ts';

/**
 * The words of a document with what each counts, apart from its rarity: whole hundredths, at most 1 (BM25F with fixed usual lengths: a document must not depend on others). A name counts more than a
 * description, that more than an attribute; a resource's own texts more than those of its catalog, provider and offers.
 */
export type WordWeights = ReadonlyMap<string, number>;

export function resourceWords(resource: Resource, tokenize: Tokenize = indexedWords): WordWeights {
  return weigh(textsOf(resource), ownPercent, tokenize);
}

export function offerWords(offer: Offer, tokenize: Tokenize = indexedWords): WordWeights {
  return weigh(textsOf(offer), othersPercent, tokenize);
}

export function catalogWords(
  catalog: Pick<Catalog, 'descriptor' | 'provider'>,
  tokenize: Tokenize = indexedWords,
): WordWeights {
  return weigh([...textsOfCatalog(catalog), ...textsOf(catalog.provider)], othersPercent, tokenize);
}

type Tokenize = Tokenizer['index'];

const ownPercent = 100;
const othersPercent = 60;
/** Weight of a word in a text of the usual length, in words. */
const fields = [
  ['name', { weight: 8, usualLength: 10 }],
  ['description', { weight: 3, usualLength: 12 }],
  ['attribute', { weight: 1, usualLength: 40 }],
] as const;
/** How much the length decides: 0 not at all, 1 wholly. */
const lengthShare = 0.5;
/** A word that counts so much reaches half of what any can. */
const half = 1.2;

/** No description has more; what has is no text for people, and would cost the index more than all others. */
const maxWords = 10_000;

function weigh(texts: readonly SearchedText[], levelPercent: number, tokenize: Tokenize): WordWeights {
  const weights = weighInOrder(texts, levelPercent, tokenize);
  if (weights.size < maxWords) return weights;
  // Which words are left out must not depend on the order of a document's members, which the database does not keep.
  const sorted = [...texts].sort((a, b) => rankOf(a) - rankOf(b) || (a.text < b.text ? -1 : 1));
  return weighInOrder(sorted, levelPercent, tokenize);
}

function rankOf({ field }: SearchedText): number {
  return ['name', 'description', 'attribute'].indexOf(field);
}

function weighInOrder(texts: readonly SearchedText[], levelPercent: number, tokenize: Tokenize): WordWeights {
  const counts = { name: new Map<string, number>(), description: new Map(), attribute: new Map() };
  const lengths = { name: 0, description: 0, attribute: 0 };
  const words = new Set<string>();
  for (const { field, text } of texts) {
    if (words.size >= maxWords) break;
    for (const word of tokenize(text)) {
      if (words.size >= maxWords && !words.has(word)) continue;
      words.add(word);
      lengths[field]++;
      counts[field].set(word, (counts[field].get(word) ?? 0) + 1);
    }
  }
  return new Map(
    Array.from(words, (word) => {
      let sum = 0;
      for (const [field, { weight, usualLength }] of fields) {
        const length = 1 - lengthShare + (lengthShare * lengths[field]) / usualLength;
        sum += (weight * (counts[field].get(word) ?? 0)) / length;
      }
      return [word, Math.max(1, Math.round((levelPercent * sum) / (half + sum))) / 100];
    }),
  );
}
