import { addTo } from '../../group.ts';
import type { Offer } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { localFilter } from '../../rules/filters/local-filter.ts';
import { parseFilter } from '../../rules/filters/parse.ts';
import { type CatalogView, selectResources } from '../../rules/filters/select.ts';
import { catalogKeyOf } from '../../storage/discovery-keys.ts';

// What runs in threads: their input and result are copied, and a thread that takes too long is ended.

export interface FilterSource {
  expression: string;
  acceptPostfix: boolean;
}

/** Which documents a filter that looks at each resource by itself selects, by their places. */
export function testDocuments({
  expression,
  acceptPostfix,
  documents,
}: FilterSource & { documents: string[] }): number[] {
  const { query } = parseFilter(expression, { acceptPostfix });
  const test = localFilter(query);
  if (test === undefined) throw new TypeError('the filter looks beyond single resources');
  return documents.flatMap((text, place) => (test(JSON.parse(text)) ? [place] : []));
}

/** A catalog as texts: threads parse them themselves. */
export interface CatalogTexts {
  key: number;
  head: string;
  resources: string[];
  /** The keys of offers on all resources. Catalogs that list the same share the array, which is copied once. */
  wide: Float64Array;
  /** The keys of offers on single resources, by their places. */
  named: { key: number; place: number }[];
}

export interface OfferTexts {
  keys: Float64Array;
  /** Beside their keys. */
  texts: string[];
}

/** Which resources of each catalog a filter selects, by their places. */
export function selectInCatalogs({
  expression,
  acceptPostfix,
  catalogs,
  offers,
}: FilterSource & { catalogs: CatalogTexts[]; offers: OfferTexts }): Uint32Array[] {
  const filter = parseFilter(expression, { acceptPostfix });
  const parsed = new Map<number, Offer>();
  for (const [index, key] of offers.keys.entries()) parsed.set(key, JSON.parse(offers.texts[index] ?? '{}'));
  return catalogs.map((catalog) => Uint32Array.from(selectResources(filter, viewOf(catalog, parsed))));
}

function viewOf(
  { key: home, head, resources, wide, named }: CatalogTexts,
  parsed: ReadonlyMap<number, Offer>,
): CatalogView {
  const covers = new Map<number, number[]>();
  for (const { key, place } of named) addTo(covers, key, place);
  const isForeign = (key: number) => Number(catalogKeyOf(key) !== home);
  // As a catalog lists them (rules/discover/attach-offers.ts): its own offers first, then others, each in the order of keys.
  const keys = [...wide, ...covers.keys()].sort((a, b) => isForeign(a) - isForeign(b) || a - b);
  return {
    members: JSON.parse(head),
    resources: resources.map((text): Json => JSON.parse(text)),
    offers: keys.flatMap((key) => {
      const offer = parsed.get(key);
      return offer ? [{ offer, covers: covers.get(key) ?? 'all' }] : [];
    }),
  };
}

/** Where a thread finds these functions. */
export const evaluateUrl = import.meta.url;
