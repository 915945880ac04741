import type { Offer } from '../../protocol/catalog.ts';
import type { Json, JsonObject } from '../../protocol/json.ts';
import type { Location } from '../jsonpath/grammar.ts';
import type { JsonPath } from '../jsonpath/jsonpath.ts';

/** A catalog as discover shows it: its members, its resources, and the offers that apply to them. */
export interface CatalogView {
  /** Without resources and offers. */
  members: JsonObject;
  resources: readonly Json[];
  offers: readonly {
    offer: Offer;
    /** Indexes in `resources`. */
    covers: 'all' | Iterable<number>;
  }[];
}

/**
 * Which resources of a catalog a filter selects, by their indexes. Decided: every catalog is evaluated by itself, as `{"catalogs":
 * [that catalog]}`. A node inside a resource selects that resource; inside an offer, the resources that the offer covers;
 * anything else of the catalog, all its resources.
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

/** The resources that one node selects, by their indexes. */
function findSelected([, , list, index]: Location, { resources, offers }: CatalogView): Iterable<number> {
  const all = resources.keys();
  if (typeof index !== 'number') return all;
  if (list === 'resources') return [index];
  const covered = list === 'offers' ? offers[index]?.covers : undefined;
  return covered === undefined || covered === 'all' ? all : covered;
}
