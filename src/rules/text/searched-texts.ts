import type { Catalog, Offer, Provider, Resource } from '../../protocol/catalog.ts';

// What a text search looks at (catalog spec: POST /discover, textSearch matches name, description or indexed attributes).
// Decided: names, descriptions and all text attributes of catalog, provider, resource and offer, at any depth. What names
// something for machines is left out: ids, addresses of files and pages, times, the names of schemas, GeoJSON.

export type TextField = 'name' | 'description' | 'attribute';

export interface SearchedText {
  field: TextField;
  text: string;
}

export function textsOfResource(resource: Resource): SearchedText[] {
  return textsOf(resource);
}

export function textsOfOffer(offer: Offer): SearchedText[] {
  return textsOf(offer);
}

export function textsOfProvider(provider: Provider): SearchedText[] {
  return textsOf(provider);
}

/** Of its own: provider, resources and offers are documents of theirs. */
export function textsOfCatalog({ descriptor }: Pick<Catalog, 'descriptor'>): SearchedText[] {
  return textsOf({ descriptor });
}

function textsOf(document: object): SearchedText[] {
  const { descriptor, ...others } = document as { descriptor?: object };
  const { name, shortDesc, longDesc, ...more } = (descriptor ?? {}) as Record<string, unknown>;
  return [
    ...attributesOf(name).map((text) => ({ field: 'name' as const, text })),
    ...attributesOf([shortDesc, longDesc]).map((text) => ({ field: 'description' as const, text })),
    ...attributesOf([more, others]).map((text) => ({ field: 'attribute' as const, text })),
  ];
}

function attributesOf(value: unknown): string[] {
  if (typeof value === 'string') return isForMachines.test(value) ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(attributesOf);
  if ('coordinates' in value) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    namesForMachines.test(name) ? [] : attributesOf(member),
  );
}

const namesForMachines =
  /^@|^(?:id|ids|uri|url|href|mimeType|digest|checksum|signature|thumbnailImage)$|[a-z](?:Ids?|Ur[il]s?)$/;

/** Addresses, UUIDs, dates and times. */
const isForMachines =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:urn|data|did|mailto|tel):)|^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/i;
