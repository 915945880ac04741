import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { isStanding } from '../../rules/discover/attach-offers.ts';
import { findExcess } from '../../rules/geometry/complexity.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { AttributeEntries, Level } from './attributes.ts';
import { type FoundGeometry, roots } from './geometry-paths.ts';
import type { IndexFormat } from './index-format.ts';

/** All index entries of one document. */
export interface DocumentEntries extends AttributeEntries {
  /** The words with their weights. */
  words: WordWeights;
  /** Whether the words always apply. Those of an offer that names resources, or is not always valid, are an upper bound for its catalog. */
  isCertain: boolean;
  geometries: FoundGeometry[];
  /** Paths of geometries that are too costly to search. No search finds the document by them. */
  unindexed: string[];
}

/** Makes the entries of a document. For a catalog these are its members, without resources and offers. */
export function entriesOfDocument(
  format: IndexFormat,
  level: Level,
  document: object,
  { areGeometriesChecked = false } = {},
): DocumentEntries {
  const { attributes, geometries, weights, tokenizer } = format;
  const { provider } = document as { provider?: Json };
  const found =
    level === 'catalog'
      ? geometries.find(provider ?? null, roots.provider)
      : geometries.find(document as Json, roots[level]);
  const costly = new Set(areGeometriesChecked ? [] : found.filter(({ geometry }) => findExcess(geometry)));
  return {
    ...attributes.entries(document as Json, level),
    words: weights[level](document as Catalog & Resource & Offer, tokenizer.index),
    isCertain: level !== 'offer' || isStanding(document as Offer),
    geometries: found.filter((each) => !costly.has(each)),
    unindexed: Array.from(costly, ({ path }) => path),
  };
}
