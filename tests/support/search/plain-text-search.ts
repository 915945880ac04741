import type { Catalog, Offer, Resource } from '../../../src/protocol/catalog.ts';
import { rankOf, type TextQuery, weighQuery } from '../../../src/rules/text/rank.ts';
import { findEdits } from '../../../src/rules/text/typing-errors.ts';
import {
  catalogWords,
  offerWords,
  resourceWords,
  type WordWeights,
} from '../../../src/rules/text/word-weights.ts';
import { type IndexFormat, indexFormats, newestOf } from '../../../src/search/format/index-format.ts';

// Text search without an index: every word of the query is held against every word that there is.

/** How many documents have a word, of how many. A catalog and its provider are one document, every resource and offer is one. */
export interface Vocabulary {
  documentCount: number;
  documentsWith: ReadonlyMap<string, number>;
}

/** A catalog, and the format that cuts its texts into words: one, or one for each document. */
export interface TokenizedCatalog {
  catalog: Catalog;
  format?: DocumentFormat;
}

export type DocumentFormat = IndexFormat | ((document: object) => IndexFormat);

const newest = newestOf(indexFormats);

export function vocabularyOf(catalogs: readonly TokenizedCatalog[]): Vocabulary {
  const documents = catalogs.flatMap(({ catalog, format = newest }) => [
    wordsOf(catalog, catalogWords, formatFor(format, catalog)),
    ...(catalog.resources ?? []).map((each) => wordsOf(each, resourceWords, formatFor(format, each))),
    ...(catalog.offers ?? []).map((each) => wordsOf(each, offerWords, formatFor(format, each))),
  ]);
  const documentsWith = new Map<string, number>();
  for (const words of documents) {
    for (const word of words.keys()) documentsWith.set(word, (documentsWith.get(word) ?? 0) + 1);
  }
  return { documentCount: documents.length, documentsWith };
}

function formatFor(format: DocumentFormat, document: object): IndexFormat {
  return typeof format === 'function' ? format(document) : format;
}

/** What documents of some formats are asked for. */
export interface AskedText {
  query: TextQuery;
  formats: ReadonlySet<IndexFormat>;
}

/** One for each way in which the formats cut the text into words. */
export function textQueries(
  text: string,
  { documentCount, documentsWith }: Vocabulary,
  formats: ReadonlySet<IndexFormat> = new Set([newest]),
): AskedText[] {
  const groups = new Map<string, { words: string[]; formats: Set<IndexFormat> }>();
  for (const format of formats) {
    const words = format.tokenizer.query(text);
    const group = groups.get(JSON.stringify(words)) ?? { words, formats: new Set() };
    groups.set(JSON.stringify(words), { ...group, formats: group.formats.add(format) });
  }
  return Array.from(groups.values(), (group) => {
    const words = group.words.map((word) => ({
      word,
      matches: [...documentsWith].flatMap(([known, documents]) => {
        const edits = findEdits(word, known);
        return edits === undefined ? [] : [{ word: known, edits, documents }];
      }),
    }));
    return { query: weighQuery(words, documentCount), formats: group.formats };
  });
}

/** The best rank of a resource by what is searched for it: its own words, those of catalog and provider, and those of the offers on it. */
export function findBestRank(
  asked: readonly AskedText[],
  resource: Resource,
  { catalog, format = newest }: TokenizedCatalog,
  offers: readonly { offer: Offer; format?: DocumentFormat }[],
): number | undefined {
  const ranks = asked.flatMap(({ query, formats }) => {
    const words = <T extends object>(document: T, weigh: Weigh<T>, by: DocumentFormat = newest) => {
      const own = formatFor(by, document);
      return formats.has(own) ? [wordsOf(document, weigh, own)] : [];
    };
    const documents = [
      ...words(resource, resourceWords, format),
      ...words(catalog, catalogWords, format),
      ...offers.flatMap((each) => words(each.offer, offerWords, each.format)),
    ];
    return rankOf(query, documents) ?? [];
  });
  return ranks.length === 0 ? undefined : Math.max(...ranks);
}

type Weigh<T> = (document: T, tokenize: IndexFormat['tokenizer']['index']) => WordWeights;

const known = new Map<IndexFormat, WeakMap<object, WordWeights>>();

function wordsOf<T extends object>(document: T, weigh: Weigh<T>, format: IndexFormat): WordWeights {
  const ofFormat = known.get(format) ?? new WeakMap<object, WordWeights>();
  known.set(format, ofFormat);
  const words = ofFormat.get(document) ?? weigh(document, format.tokenizer.index);
  ofFormat.set(document, words);
  return words;
}
