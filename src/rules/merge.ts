import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';

// What a publish makes of a catalog (catalog spec: publishDirectives, updateMode). MERGE puts in resources and offers by
// id, whole objects, and the catalog-level members that are given; everything else stays. FULL leaves exactly what this
// request brought. The result is a list of changes, so that a small MERGE into a huge catalog reads nothing of the rest.

export type UpdateMode = 'MERGE' | 'FULL';

/** The catalog-level members: everything but the lists. */
export type CatalogMembers = Omit<Catalog, 'resources' | 'offers'>;

/** What is to be written; `R` is a resource, or what else storage keeps of one. */
export interface CatalogChange<R = Resource> {
  members: CatalogMembers;
  /** Put in place of those with the same id, or added. */
  resources: R[];
  offers: Offer[];
  /** Every resource and offer that is not among these goes. */
  removesOthers: boolean;
}

export interface AcceptedParts<R = Resource> {
  /** As submitted. */
  catalog: Catalog;
  /** Those of it that were accepted. */
  resources: R[];
  offers: Offer[];
}

/**
 * The change that the accepted parts of a submitted catalog make to the stored one, of which only the catalog-level
 * members are needed. Undefined where nothing changes: nothing was acceptable, none of the resources was, or neither a
 * resource nor an offer would be left. Since that holds for every change, a stored catalog is never empty, and a MERGE into it leaves something.
 */
export function applyPublish<R = Resource>(
  current: CatalogMembers | undefined,
  { catalog, resources, offers }: AcceptedParts<R>,
  updateMode: UpdateMode,
): CatalogChange<R> | undefined {
  const { resources: submittedResources = [], offers: submittedOffers = [], ...given } = catalog;
  const kept = updateMode === 'MERGE' ? current : undefined;
  const isEmpty = resources.length + offers.length === 0;
  const wasEmpty = submittedResources.length + submittedOffers.length === 0;
  if (isEmpty && (!wasEmpty || kept === undefined)) return undefined;
  if (resources.length === 0 && submittedResources.length > 0) return undefined;
  return { members: { ...kept, ...given }, resources, offers, removesOthers: kept === undefined };
}

/** A change applied to a whole catalog in memory: what is replaced keeps its place, what is new comes last. */
export function applyChange(catalog: Catalog | undefined, change: CatalogChange): Catalog {
  const { members, removesOthers } = change;
  const kept = removesOthers ? undefined : catalog;
  const resources = upsert(kept?.resources, change.resources);
  const offers = upsert(kept?.offers, change.offers);
  return { ...members, ...(resources.length > 0 && { resources }), ...(offers.length > 0 && { offers }) };
}

function upsert<T extends { id: string }>(kept: readonly T[] = [], changed: readonly T[]): T[] {
  return [...new Map([...kept, ...changed].map((item) => [item.id, item])).values()];
}
