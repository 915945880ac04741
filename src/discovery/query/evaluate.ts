import type { Json } from '../../protocol/json.ts';
import { localFilter } from '../../rules/filters/local-filter.ts';
import { parseFilter } from '../../rules/filters/parse.ts';
import { type CatalogView, selectResources } from '../../rules/filters/select.ts';

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
  head: string;
  resources: string[];
  offers: { text: string; covers: number[] }[];
}

/** Which resources of each catalog a filter selects, by their places. */
export function selectInCatalogs({
  expression,
  acceptPostfix,
  catalogs,
}: FilterSource & { catalogs: CatalogTexts[] }): number[][] {
  const filter = parseFilter(expression, { acceptPostfix });
  return catalogs.map((catalog) => [...selectResources(filter, viewOf(catalog))]);
}

function viewOf({ head, resources, offers }: CatalogTexts): CatalogView {
  return {
    members: JSON.parse(head),
    resources: resources.map((text): Json => JSON.parse(text)),
    offers: offers.map(({ text, covers }) => ({ offer: JSON.parse(text), covers: new Set(covers) })),
  };
}

/** Where a thread finds these functions. */
export const evaluateUrl = import.meta.url;
