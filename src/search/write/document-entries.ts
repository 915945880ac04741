import type { Offer, Provider, Resource } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import type { WordWeights } from '../../rules/text/word-weights.ts';
import type { IndexFormat } from '../format/index-format.ts';
import { type FoundGeometry, roots } from '../spatial/geometry-paths.ts';
import type { AttributeEntries } from './attribute-entries.ts';

/** Everything that the index holds of one document. */
export interface DocumentEntries extends AttributeEntries {
  /** With what each counts where it is found. */
  words: WordWeights;
  geometries: FoundGeometry[];
}

/** Makes the entries of a document in one format of the index. */
export function entriesOfDocument(
  format: IndexFormat,
  kind: 'catalog' | 'resource' | 'offer',
  document: object,
): DocumentEntries {
  switch (kind) {
    case 'resource':
      return resourceEntries(format, document as Resource);
    case 'offer':
      return offerEntries(format, document as Offer);
    case 'catalog':
      return headEntries(format, document);
  }
}

function resourceEntries(
  { tokenizer, weights, attributes, geometries }: IndexFormat,
  resource: Resource,
): DocumentEntries {
  return {
    ...attributes.entries(resource as Json),
    words: weights.resource(resource, tokenizer.index),
    geometries: geometries.find(resource as Json, roots.resource),
  };
}

function offerEntries({ tokenizer, weights, geometries }: IndexFormat, offer: Offer): DocumentEntries {
  return {
    ...createEmptyAttributes(),
    words: weights.offer(offer, tokenizer.index),
    geometries: geometries.find(offer as Json, roots.offer),
  };
}

/** Of the catalog-level members: what is said of the catalog and of its provider. */
function headEntries({ tokenizer, weights, geometries }: IndexFormat, head: object): DocumentEntries {
  const { descriptor, provider } = head as { descriptor: object; provider: Provider };
  return {
    ...createEmptyAttributes(),
    words: weights.catalog({ descriptor, provider }, tokenizer.index),
    geometries: geometries.find(provider as Json, roots.provider),
  };
}

function createEmptyAttributes(): AttributeEntries {
  return { facts: new Set(), numbers: new Map(), objects: new Set() };
}
