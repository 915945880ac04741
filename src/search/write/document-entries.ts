import type { Offer, Provider, Resource } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { catalogWords, offerWords, resourceWords, type WordWeights } from '../../rules/text/word-weights.ts';
import { type FoundGeometry, geometriesOf, roots } from '../spatial/geometry-paths.ts';
import { type AttributeEntries, attributeEntries } from './attribute-entries.ts';

/** Everything that the index holds of one document. */
export interface DocumentEntries extends AttributeEntries {
  /** With what each counts where it is found. */
  words: WordWeights;
  geometries: FoundGeometry[];
}

export function resourceEntries(resource: Resource): DocumentEntries {
  return {
    ...attributeEntries(resource as Json),
    words: resourceWords(resource),
    geometries: geometriesOf(resource as Json, roots.resource),
  };
}

export function offerEntries(offer: Offer): DocumentEntries {
  return {
    ...noAttributes(),
    words: offerWords(offer),
    geometries: geometriesOf(offer as Json, roots.offer),
  };
}

/** Of the catalog-level members: what is said of the catalog and of its provider. */
export function headEntries(head: object): DocumentEntries {
  const { descriptor, provider } = head as { descriptor: object; provider: Provider };
  const words = catalogWords({ descriptor, provider });
  return { ...noAttributes(), words, geometries: geometriesOf(provider as Json, roots.provider) };
}

function noAttributes(): AttributeEntries {
  return { facts: new Set(), numbers: new Map(), objects: new Set() };
}
