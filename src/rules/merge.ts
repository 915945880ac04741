import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';

// A publish as a change of the stored catalog (catalog spec: publishDirectives, updateMode). MERGE upserts resources, offers and members; FULL
// replaces the catalog. A small MERGE into a huge catalog does not read the rest of it.

export type UpdateMode = 'MERGE' | 'FULL';

export type CatalogMembers = Omit<Catalog, 'resources' | 'offers'>;

/** The changes to write; `R` is a resource, or its form in storage. */
export interface CatalogChange<R = Resource> {
  members: CatalogMembers;
  /** They replace those with the same id, or are added. */
  resources: R[];
  offers: Offer[];
  /** All other resources and offers are removed. */
  removesOthers: boolean;
}

/** The resources and offers are the accepted ones of the submitted catalog. Undefined if nothing changes: no resource was acceptable, or nothing at all, or the catalog would be empty. So a stored catalog is never empty. */
export function applyPublish<R = Resource>(
  current: CatalogMembers | undefined,
  { catalog, resources, offers }: { catalog: Catalog; resources: R[]; offers: Offer[] },
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
