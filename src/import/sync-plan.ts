import { hash } from 'node:crypto';
import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import type { CatalogHead, PackedCatalog } from './packed-catalog.ts';

// The plan of a sync: the difference between a source and its published catalogs, which are remembered as digests. Pure.

export interface SyncMemory {
  stations: string[];
  catalogs: Record<string, RememberedCatalog>;
}

export interface RememberedCatalog {
  head: CatalogHead;
  /** By `r:` or `o:` and the id of a resource or offer. */
  digests: Record<string, string>;
  missingSince?: string;
  /** In a catalog service it is inactive, and can return. */
  isRetired?: boolean;
}

export interface SyncPlan {
  added: PackedCatalog[];
  changed: CatalogDifference[];
  unchanged: number;
  gone: string[];
}

export interface CatalogDifference {
  catalog: PackedCatalog;
  remembered: RememberedCatalog;
  resources: Resource[];
  offers: Offer[];
  hasOtherHead: boolean;
  isRemoving: boolean;
  /** Whether the source had marked it as inactive, and no longer does. */
  isBack: boolean;
}

/** @param heldBack ids of catalogs whose station exists but is not published now */
export function planSync(
  { catalogs: known }: SyncMemory,
  catalogs: readonly PackedCatalog[],
  heldBack: ReadonlySet<string>,
): SyncPlan {
  const plan: SyncPlan = { added: [], changed: [], unchanged: 0, gone: [] };
  const here = new Set(catalogs.map(({ id }) => id));
  for (const catalog of catalogs) {
    const before = known[catalog.id];
    const difference = before && findDifference(catalog, before);
    if (!before) plan.added.push(catalog);
    else if (difference) plan.changed.push(difference);
    else plan.unchanged += 1;
  }
  plan.gone = Object.keys(known).filter((id) => !known[id]?.isRetired && !here.has(id) && !heldBack.has(id));
  return plan;
}

export function missingShare({ stations }: SyncMemory, now: ReadonlySet<string>) {
  const count = stations.filter((id) => !now.has(id)).length;
  return { count, share: stations.length === 0 ? 0 : count / stations.length };
}

export function remember(catalog: Catalog): RememberedCatalog {
  const { resources = [], offers = [], ...head } = catalog;
  const digests = Object.fromEntries([
    ...resources.map((resource) => [`r:${resource.id}`, digestOf(resource)]),
    ...offers.map((offer) => [`o:${offer.id}`, digestOf(offer)]),
  ]);
  return { head, digests };
}

function findDifference(catalog: PackedCatalog, before: RememberedCatalog): CatalogDifference | undefined {
  const whole = catalog.unpack();
  const remembered = remember(whole);
  const { head, digests } = remembered;
  const isOther = (key: string) => digests[key] !== before.digests[key];
  const resources = (whole.resources ?? []).filter(({ id }) => isOther(`r:${id}`));
  const offers = (whole.offers ?? []).filter(({ id }) => isOther(`o:${id}`));
  const isRemoving = Object.keys(before.digests).some((key) => !(key in digests));
  const hasOtherHead = JSON.stringify(head) !== JSON.stringify(before.head);
  if (!hasOtherHead && !isRemoving && resources.length + offers.length === 0) return undefined;
  const isBack = before.head.isActive === false && head.isActive === undefined;
  return { catalog, remembered, resources, offers, hasOtherHead, isRemoving, isBack };
}

/** A repeated report of the same status is not a change. */
function digestOf(item: Resource | Offer): string {
  const digest = hash('sha256', JSON.stringify(item).replaceAll(reportedAt, ''), 'buffer');
  return digest.toString('base64url', 0, digestBytes);
}

/** Matches the member with its value and the comma before it. In the text of another value, its quotes would be escaped. */
const reportedAt = /,?"reportedAt":"(?:[^"\\]|\\.)*"/g;
/** 96 bits: accidental collisions of two contents of one resource are practically impossible. */
const digestBytes = 12;
