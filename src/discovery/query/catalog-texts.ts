import type { Queryable } from '../../storage/database.ts';
import { readDocuments } from '../../storage/discovery-documents.ts';
import type { Gate } from '../../storage/discovery-gate.ts';
import { readCatalogHeads, readCatalogResources } from '../../storage/discovery-homes.ts';
import { catalogKeyOf } from '../../storage/discovery-keys.ts';
import { findOffers } from '../../storage/discovery-offers.ts';
import { findListings } from '../../storage/discovery-wide-offers.ts';
import { offersIn } from '../../storage/wide-offers.ts';
import type { CatalogTexts, OfferTexts } from './evaluate.ts';

export interface WholeCatalogs {
  /** In the order of the texts. */
  keys: number[];
  /** Of each catalog, in the order of the texts. */
  resourceKeys: number[][];
  catalogs: CatalogTexts[];
  /** Of all of them: an offer that several catalogs list is here once. */
  offers: OfferTexts;
}

/** Whole catalogs, as filters see them: assembled, each with the offers that apply to its resources. */
export async function readCatalogTexts(
  database: Queryable,
  keys: readonly number[],
  gate: Gate,
): Promise<WholeCatalogs> {
  const [heads, rows, listings] = await Promise.all([
    readCatalogHeads(database, keys),
    readCatalogResources(database, keys),
    findListings(database, keys, gate),
  ]);
  const drafts = new Map<number, { resourceKeys: number[]; texts: CatalogTexts }>();
  for (const [key, head] of heads) {
    const listing = listings.get(key);
    const wide = listing ? offersIn(listing, key) : new Float64Array();
    drafts.set(key, { resourceKeys: [], texts: { key, head, resources: [], wide, named: [] } });
  }
  const places = new Map<number, number>();
  for (const { key, catalog_key, document } of rows) {
    const draft = drafts.get(catalog_key);
    if (draft === undefined) continue;
    places.set(key, draft.resourceKeys.length);
    draft.resourceKeys.push(key);
    draft.texts.resources.push(document);
  }
  for (const { resource_key, offer_key } of await findOffers(database, [...places.keys()], gate)) {
    const draft = drafts.get(catalogKeyOf(resource_key));
    const place = places.get(resource_key);
    if (draft && place !== undefined) draft.texts.named.push({ key: offer_key, place });
  }
  const listed = [...drafts.values()].filter(({ resourceKeys }) => resourceKeys.length > 0);
  return {
    keys: listed.map(({ texts }) => texts.key),
    resourceKeys: listed.map(({ resourceKeys }) => resourceKeys),
    catalogs: listed.map(({ texts }) => texts),
    offers: await readOfferTexts(
      database,
      listed.map(({ texts }) => texts),
    ),
  };
}

async function readOfferTexts(database: Queryable, catalogs: readonly CatalogTexts[]): Promise<OfferTexts> {
  const wanted = new Set<number>();
  for (const wide of new Set(catalogs.map((texts) => texts.wide))) for (const key of wide) wanted.add(key);
  for (const { named } of catalogs) for (const { key } of named) wanted.add(key);
  const documents = await readDocuments(database, 'offer', [...wanted]);
  return { keys: Float64Array.from(documents.keys()), texts: [...documents.values()] };
}
