import type { Offer } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { type ListName, localFilter } from '../../rules/filters/local-filter.ts';
import { parseFilter } from '../../rules/filters/parse.ts';
import { type CatalogView, selectResources } from '../../rules/filters/select.ts';
import { catalogKeyOf } from '../documents/keys.ts';

// What runs in threads: their input and result are copied, and a thread that takes too long is ended.

export interface FilterSource {
  expression: string;
  acceptPostfix: boolean;
}

/** Which documents a filter that looks at each resource, or at each offer, by itself selects, by their indexes. A text is one document, or an array of them. */
export function testDocuments({
  expression,
  acceptPostfix,
  list,
  texts,
}: FilterSource & { list: ListName; texts: string[] }): number[] {
  const { query } = parseFilter(expression, { acceptPostfix });
  const test = localFilter(query, list);
  if (test === undefined) throw new TypeError(`the filter looks beyond single ${list}`);
  // Text by text: parsed, all of them would take many times the memory.
  const verdicts = texts.flatMap((text) => [JSON.parse(text)].flat().map((document: Json) => test(document)));
  return verdicts.flatMap((isSelected, position) => (isSelected ? [position] : []));
}

/** A catalog as texts: threads parse them themselves. */
export interface CatalogTexts {
  key: number;
  head: string;
  resources: { text: string };
  /** The keys of offers on all resources. Catalogs that list the same share the array, which is copied once. */
  wide: Float64Array;
  /** Offers on single resources, and the indexes of those. */
  named: { key: number; positions: Uint32Array }[];
}

/** Which resources of each catalog a filter selects, by their indexes. */
export function selectInCatalogs({
  expression,
  acceptPostfix,
  catalogs,
  offers,
}: FilterSource & { catalogs: CatalogTexts[]; offers: { keys: Float64Array; text: string } }): Uint32Array[] {
  const filter = parseFilter(expression, { acceptPostfix });
  const documents: Offer[] = JSON.parse(offers.text);
  const parsed = new Map(documents.map((offer, index) => [offers.keys[index] ?? 0, offer]));
  return catalogs.map((catalog) => Uint32Array.from(selectResources(filter, buildView(catalog, parsed))));
}

function buildView(
  { key: home, head, resources, wide, named }: CatalogTexts,
  parsed: ReadonlyMap<number, Offer>,
): CatalogView {
  const covers = new Map(named.map(({ key, positions }) => [key, positions]));
  const inOrder = Float64Array.from([...wide, ...covers.keys()]).sort();
  const isOwn = (key: number) => catalogKeyOf(key) === home;
  // As a catalog lists them (rules/discover/attach-offers.ts): its own offers first, then others, each in the order of keys.
  const keys = [...inOrder.filter(isOwn), ...inOrder.filter((key) => !isOwn(key))];
  return {
    members: JSON.parse(head),
    resources: JSON.parse(resources.text) as Json[],
    offers: keys.flatMap((key) => {
      const offer = parsed.get(key);
      return offer ? [{ offer, covers: covers.get(key) ?? 'all' }] : [];
    }),
  };
}

/** Where a thread finds these functions. */
export const evaluateUrl = import.meta.url;
