import type { Offer } from '../../protocol/catalog.ts';
import type { Json, JsonObject } from '../../protocol/json.ts';
import type { Location } from '../jsonpath/grammar.ts';
import type { JsonPath } from '../jsonpath/jsonpath.ts';

export interface CatalogView {
  members: JsonObject;
  resources: readonly Json[];
  offers: readonly {
    offer: Offer;
    covers: 'all' | Iterable<number>;
  }[];
}

/**
 * The indexes of the resources that a filter selects. Decided: every catalog is evaluated alone, as `{"catalogs": [that catalog]}`. A node inside a resource selects that resource; inside an offer, the
 * resources that the offer covers; anywhere else, all resources of the catalog.
 */
export function selectResources(filter: Pick<JsonPath, 'find'>, view: CatalogView): Set<number> {
  const selected = new Set<number>();
  const { length } = view.resources;
  for (const { path } of filter.find(payloadOf(view))) {
    if (selected.size === length) break;
    for (const index of findSelected(path, view)) selected.add(index);
  }
  return selected;
}

function payloadOf({ members, resources, offers }: CatalogView): Json {
  const catalog = {
    ...members,
    ...(resources.length > 0 && { resources: resources as Json[] }),
    ...(offers.length > 0 && { offers: offers.map(({ offer }) => offer as Json) }),
  };
  return { catalogs: [catalog] };
}

function findSelected([, , list, index]: Location, { resources, offers }: CatalogView): Iterable<number> {
  const all = resources.keys();
  if (typeof index !== 'number') return all;
  if (list === 'resources') return [index];
  const covered = list === 'offers' ? offers[index]?.covers : undefined;
  return covered === undefined || covered === 'all' ? all : covered;
}
