import type { Offer } from '../../protocol/catalog.ts';
import type { Json } from '../../protocol/json.ts';
import { attachOffers, termsOf } from '../../rules/discover/attach-offers.ts';
import { type ListName, localFilter } from '../../rules/filters/local-filter.ts';
import { parseFilter } from '../../rules/filters/parse.ts';
import { selectResources } from '../../rules/filters/select.ts';
import type { FilterSource } from './plan.ts';

// Runs in threads: input and result are copied, and a thread that takes too long is ended.

/** The indexes of the documents that a filter selects, if it examines each resource, or each offer, separately. */
export function testDocuments(input: FilterSource & { list: ListName; texts: string[] }) {
  const { list, texts, ...source } = input;
  const { query } = parseFilter(source.expression, source);
  const test = localFilter(query, list);
  if (test === undefined) throw new TypeError(`the filter looks beyond single ${list}`);
  // Parses one text at a time: all parsed documents would take many times the memory.
  return texts.flatMap((text, position) => (test(JSON.parse(text)) ? [position] : []));
}

/** A catalog as texts, which threads parse. */
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

/** The indexes of the selected resources of each catalog, which is evaluated separately, with its own offers that are valid now. */
export function selectInCatalogs(input: FilterSource & { catalogs: CatalogTexts[]; now: Date }) {
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

/** The module that threads load for these functions. */
export const evaluateUrl = import.meta.url;
