import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { isStanding } from '../../rules/discover/attach-offers.ts';
import { findExcess } from '../../rules/geometry/complexity.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { AttributeEntries, Level } from './attributes.ts';
import { type FoundGeometry, roots } from './geometry-paths.ts';
import type { IndexFormat } from './index-format.ts';

/** Everything that the index holds of one document. */
export interface DocumentEntries extends AttributeEntries {
  /** With what each counts where it is found. */
  words: WordWeights;
  /** Whether the words always apply: those of an offer that names resources, or is not always valid, are an upper bound of what its catalog has. */
  isCertain: boolean;
  geometries: FoundGeometry[];
  /** The paths of geometries that are too costly to search among: no search finds the document by them. */
  unindexed: string[];
}

/** Makes the entries of a document; that of a catalog are its members, without resources and offers. */
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
