import { readConfig } from '../../../src/config.ts';
import type { Catalog, Offer, Resource } from '../../../src/protocol/catalog.ts';
import { farMeaning, nearForms, shortestFirst, textWords } from '../../../src/rules/text/forms.ts';
import {
  rankOf,
  splitCompounds,
  type TextQuery,
  type TextRank,
  weighQuery,
} from '../../../src/rules/text/rank.ts';
import {
  catalogWords,
  offerWords,
  resourceWords,
  type WordWeights,
} from '../../../src/rules/text/word-weights.ts';
import { queryWords } from '../../../src/rules/text/words.ts';

// Text search without an index: compares every word of the query with every known word.

/** How many documents there are, and how many have each word. A catalog and its provider are one document, every resource and offer is one. */
export interface Vocabulary {
  documentCount: number;
  documentsWith: ReadonlyMap<string, number>;
}

export function vocabularyOf(catalogs: readonly { catalog: Catalog }[]): Vocabulary {
  const documents = catalogs.flatMap(({ catalog }) => [
    wordsOf(catalog, catalogWords),
    ...(catalog.resources ?? []).map((each) => wordsOf(each, resourceWords)),
    ...(catalog.offers ?? []).map((each) => wordsOf(each, offerWords)),
  ]);
  const documentsWith = new Map<string, number>();
  for (const words of documents) {
    for (const word of words.keys()) documentsWith.set(word, (documentsWith.get(word) ?? 0) + 1);
  }
  return { documentCount: documents.length, documentsWith };
}

export function textQuery(text: string, { documentCount, documentsWith }: Vocabulary): TextQuery {
  const words = textWords(queryWords(text)).map((asked) => {
    const { word, joins } = asked;
    const near = nearForms(asked, searchLanguages);
    const matches = [...documentsWith].flatMap(([known, documents]) => {
      const meaning = near.meaningOf(known) ?? (joins ? undefined : farMeaning(asked, known));
      return meaning ? [{ ...meaning, word: known, documents }] : [];
    });
    const begun = shortestFirst(matches.filter(({ form }) => form === 'begun').map((match) => match.word));
    return {
      word,
      joins,
      matches: matches.filter((match) => match.form !== 'begun' || begun.includes(match.word)),
    };
  });
  return weighQuery(
    splitCompounds(words, (word) => documentsWith.get(word) ?? 0),
    documentCount,
  );
}

const { SEARCH_LANGUAGES: searchLanguages } = readConfig({});

/** The rank of a resource by its searched text: its own words, those of catalog and provider, and those of its offers. */
export function findRank(
  query: TextQuery,
  resource: Resource,
  catalog: Catalog,
  offers: readonly Offer[],
): TextRank | undefined {
  return rankOf(query, [
    wordsOf(resource, resourceWords),
    wordsOf(catalog, catalogWords),
    ...offers.map((offer) => wordsOf(offer, offerWords)),
  ]);
}

const known = new WeakMap<object, WordWeights>();

function wordsOf<T extends object>(document: T, weigh: (document: T) => WordWeights): WordWeights {
  const words = known.get(document) ?? weigh(document);
  known.set(document, words);
  return words;
}
