import type { Catalog, Offer, Provider, Resource } from '../../protocol/catalog.ts';

// The texts of a text search (catalog spec: POST /discover, textSearch matches name, description or indexed attributes). Decided: names, descriptions and all text attributes of catalog, provider, resource
// and offer, at any depth, without names for machines: ids, addresses, times, names of schemas, GeoJSON.

type TextField = 'name' | 'description' | 'attribute';

export interface SearchedText {
  field: TextField;
  text: string;
}

/** Only texts of the catalog: provider, resources and offers are separate documents. */
export function textsOfCatalog({ descriptor }: Pick<Catalog, 'descriptor'>): SearchedText[] {
  return textsOf({ descriptor });
}

export function textsOf(document: Resource | Offer | Provider | Pick<Catalog, 'descriptor'>): SearchedText[] {
  const { descriptor, ...others } = document as { descriptor?: object };
  const { name, shortDesc, longDesc, ...more } = (descriptor ?? {}) as Record<string, unknown>;
  const texts: SearchedText[] = [];
  collect(name, 'name', texts);
  collect([shortDesc, longDesc], 'description', texts);
  collect([more, others], 'attribute', texts);
  return texts;
}

function collect(value: unknown, field: TextField, texts: SearchedText[]): void {
  if (typeof value === 'string') {
    if (!isForMachines.test(value)) texts.push({ field, text: value });
  } else if (Array.isArray(value)) {
    for (const element of value) collect(element, field, texts);
  } else if (typeof value === 'object' && value !== null && !('coordinates' in value)) {
    for (const name of Object.keys(value)) {
      if (!namesForMachines.test(name)) collect((value as Record<string, unknown>)[name], field, texts);
    }
  }
}

const namesForMachines =
  /^@|^(?:id|ids|uri|url|href|mimeType|digest|checksum|signature|thumbnailImage)$|[a-z](?:Ids?|Ur[il]s?)$/;

/** Addresses, UUIDs, dates and times. */
const isForMachines =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:urn|data|did|mailto|tel):)|^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/i;
