import type { Catalog, Offer, Resource } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { findExcess } from '../../rules/geometry/complexity.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { IndexFormat } from '../format/index-format.ts';
import { type FoundGeometry, roots } from '../spatial/geometry-paths.ts';
import type { AttributeEntries } from './attribute-entries.ts';

/** Everything that the index holds of one document. */
export interface DocumentEntries extends AttributeEntries {
  /** With what each counts where it is found. */
  words: WordWeights;
  geometries: FoundGeometry[];
  /** The paths of geometries that are too costly to search among: no search finds the document by them. */
  unindexed: string[];
  /** Whether it is a standing offer, whose words have lists of their own. */
  isStanding: boolean;
}

/** Of the catalog-level members, what is said of the catalog and of its provider. */
type IndexedKind = 'catalog' | 'resource' | 'offer';

/** Makes the entries of a document in one format of the index. */
export function entriesOfDocument(
  format: IndexFormat,
  kind: IndexedKind,
  document: object,
  { areGeometriesChecked = false } = {},
): DocumentEntries {
  const { attributes, geometries } = format;
  const { provider } = document as { provider?: Json };
  const found =
    kind === 'catalog'
      ? geometries.find(provider ?? null, roots.provider)
      : geometries.find(document as Json, roots[kind]);
  const costly = new Set(areGeometriesChecked ? [] : found.filter(({ geometry }) => findExcess(geometry)));
  return {
    ...(kind === 'resource' ? attributes.entries(document as Json) : noAttributes),
    words: weighWords(format, kind, document),
    geometries: found.filter((each) => !costly.has(each)),
    unindexed: Array.from(costly, ({ path }) => path),
    isStanding: kind === 'offer' && format.isStanding(document as Offer),
  };
}

const noAttributes: AttributeEntries = { facts: new Set(), numbers: new Map(), objects: new Set() };

/** The words of a document, with what each counts. */
export function weighWords(
  { tokenizer, weights }: IndexFormat,
  kind: IndexedKind,
  document: object,
): WordWeights {
  return weights[kind](document as Catalog & Resource & Offer, tokenizer.index);
}
