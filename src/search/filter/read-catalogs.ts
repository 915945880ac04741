import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf } from '../documents/keys.ts';
import { findOffers } from '../documents/offers.ts';
import {
  type DocumentList,
  noDocuments,
  readCatalogHeads,
  readCatalogResources,
  readOfferList,
} from '../documents/read-homes.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import type { Scope } from '../documents/scope.ts';
import { listOffersIn } from '../documents/wide-offers.ts';
import { lowerBound } from '../lists/posting-list.ts';
import type { CatalogTexts } from './evaluate.ts';

interface WholeCatalogs {
  catalogs: (CatalogTexts & { resources: DocumentList })[];
  /** Of all of them: an offer that several catalogs list is here once. */
  offers: DocumentList;
}

const noOffers = new Float64Array();

/** Whole catalogs, as filters see them: assembled, each with the offers that apply to its resources. */
export async function readCatalogTexts(
  database: IndexReader,
  keys: readonly number[],
  scope: Scope,
): Promise<WholeCatalogs> {
  const [heads, resources, listings] = await Promise.all([
    readCatalogHeads(database, keys),
    readCatalogResources(database, keys),
    findListings(database, keys, scope),
  ]);
  const catalogs = new Map<number, WholeCatalogs['catalogs'][number]>();
  for (const [key, head] of heads) {
    const listing = listings.get(key);
    const wide = listing ? listOffersIn(listing, key) : noOffers;
    catalogs.set(key, { key, head, resources: resources.get(key) ?? noDocuments, wide, named: [] });
  }
  const resourceKeys = Array.from(catalogs.values(), (catalog) => Array.from(catalog.resources.keys)).flat();
  for (const { key, resources: covered } of await findOffers(database, resourceKeys, scope)) {
    const catalog = catalogs.get(catalogKeyOf(covered[0] ?? 0));
    if (catalog === undefined) continue;
    const { keys: inOrder } = catalog.resources;
    catalog.named.push({
      key,
      positions: Uint32Array.from(covered, (resource) => lowerBound(inOrder, resource)),
    });
  }
  const all = [...catalogs.values()];
  return { catalogs: all, offers: await readOfferList(database, offersOf(all)) };
}

function offersOf(catalogs: readonly CatalogTexts[]): number[] {
  const wanted = new Set<number>();
  for (const wide of new Set(catalogs.map((texts) => texts.wide))) for (const key of wide) wanted.add(key);
  for (const { named } of catalogs) for (const { key } of named) wanted.add(key);
  return [...wanted];
}
