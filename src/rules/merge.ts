import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';

// A publish as a change of the stored catalog (catalog spec: publishDirectives, updateMode). MERGE upserts resources, offers and members; FULL replaces the catalog. A small MERGE
// into a huge catalog reads nothing of the rest.

export type UpdateMode = 'MERGE' | 'FULL';

export type CatalogMembers = Omit<Catalog, 'resources' | 'offers'>;

/** The changes to write; `R` is a resource, or another form in which storage has it. */
export interface CatalogChange<R = Resource> {
  members: CatalogMembers;
  /** Put in place of those with the same id, or added. */
  resources: R[];
  offers: Offer[];
  /** Every resource and offer that is not among these goes. */
  removesOthers: boolean;
}

/** The resources and offers are those of the submitted catalog that were accepted. Undefined where nothing changes: no resource was acceptable, or nothing at all, or the catalog would be empty. So a stored catalog is never empty. */
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
