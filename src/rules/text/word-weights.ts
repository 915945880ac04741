import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import {
  type SearchedText,
  textsOfCatalog,
  textsOfOffer,
  textsOfProvider,
  textsOfResource,
} from './searched-texts.ts';
import { indexedWords, type Tokenizer } from './words.ts';

/**
 * The words of a document with what each counts for where it stands, apart from its rarity: whole hundredths, at most 1. A name
 * counts a little more than a description, that more than an attribute; a short name, of which the word is a greater
 * part, more than a long one; a resource's own texts more than those of its catalog, provider and offers. All of
 * it lies so close together that it only decides between resources that match equally many words equally rare.
 */
export type WordWeights = ReadonlyMap<string, number>;

export function resourceWords(resource: Resource, tokenize: Tokenize = indexedWords): WordWeights {
  return weigh(textsOfResource(resource), ownPercent, tokenize);
}

export function offerWords(offer: Offer, tokenize: Tokenize = indexedWords): WordWeights {
  return weigh(textsOfOffer(offer), othersPercent, tokenize);
}

/** Those of the catalog itself and of its provider. */
export function catalogWords(
  catalog: Pick<Catalog, 'descriptor' | 'provider'>,
  tokenize: Tokenize = indexedWords,
): WordWeights {
  return weigh([...textsOfCatalog(catalog), ...textsOfProvider(catalog.provider)], othersPercent, tokenize);
}

type Tokenize = Tokenizer['index'];

const ownPercent = 100;
const othersPercent = 90;
const descriptionPercent = 90;
const attributePercent = 80;
/** A name of more words counts one hundredth less for each, but more than a description. */
const shortName = 2;
const longestName = shortName + 9;

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
  const weights = new Map<string, number>();
  for (const { field, text } of texts) {
    if (weights.size >= maxWords) break;
    const words = tokenize(text);
    const percent = field === 'name' ? namePercent(words.size) : fieldPercent[field];
    const weight = Math.round((percent * levelPercent) / 100) / 100;
    for (const word of words) {
      const known = weights.get(word);
      if (known !== undefined || weights.size < maxWords) weights.set(word, Math.max(weight, known ?? 0));
    }
  }
  return weights;
}

const fieldPercent = { description: descriptionPercent, attribute: attributePercent };

function namePercent(wordCount: number): number {
  return 100 - Math.min(Math.max(wordCount, shortName), longestName) + shortName;
}
