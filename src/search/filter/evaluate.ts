import type { Offer } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { attachOffers, termsOf } from '../../rules/discover/attach-offers.ts';
import { type ListName, localFilter } from '../../rules/filters/local-filter.ts';
import { parseFilter } from '../../rules/filters/parse.ts';
import { selectResources } from '../../rules/filters/select.ts';
import type { FilterSource } from './plan.ts';

// Runs in threads: input and result are copied, and a thread that takes too long is ended.

/** Which documents a filter that looks at each resource, or at each offer, by itself selects, by their indexes. */
export function testDocuments({
  list,
  texts,
  ...source
}: FilterSource & { list: ListName; texts: string[] }) {
  const { query } = parseFilter(source.expression, source);
  const test = localFilter(query, list);
  if (test === undefined) throw new TypeError(`the filter looks beyond single ${list}`);
  // Text by text: parsed, all of them would take many times the memory.
  return texts.flatMap((text, position) => (test(JSON.parse(text)) ? [position] : []));
}

/** A catalog as texts: threads parse them themselves. */
export interface CatalogTexts {
  owner: string;
  id: string;
  providerId: string;
  head: string;
  /** JSON arrays. */
  resources: string;
  offers: string;
  resourceIds: readonly string[];
}

/** Which resources of each catalog a filter selects, by their indexes. Each is looked at by itself, with its own offers that are valid now. */
export function selectInCatalogs(
  input: FilterSource & { catalogs: CatalogTexts[]; now: Date },
): Uint32Array[] {
  const { catalogs, now, ...source } = input;
  const filter = parseFilter(source.expression, source);
  return catalogs.map(({ head, resources, offers, ...names }) => {
    const catalog = { ...names, networkIds: [] };
    const own: Offer[] = JSON.parse(offers);
    const published = own.map((offer) => ({ ...termsOf(offer, catalog), offer }));
    const attached = attachOffers(catalog, published, now);
    const view = {
      members: JSON.parse(head),
      resources: JSON.parse(resources) as Json[],
      offers: attached.map(({ offer: { offer }, covers }) => ({ offer, covers })),
    };
    return Uint32Array.from(selectResources(filter, view));
  });
}

/** Where a thread finds these functions. */
export const evaluateUrl = import.meta.url;
