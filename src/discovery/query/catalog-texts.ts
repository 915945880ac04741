import { addTo } from '../../group.ts';
import type { Queryable } from '../../storage/database.ts';
import { readDocuments } from '../../storage/discovery-documents.ts';
import type { Gate } from '../../storage/discovery-gate.ts';
import { readCatalogHeads, readCatalogResources } from '../../storage/discovery-homes.ts';
import { catalogKeyOf } from '../../storage/discovery-keys.ts';
import { findOffers } from '../../storage/discovery-offers.ts';
import type { CatalogTexts } from './evaluate.ts';

export interface WholeCatalog {
  key: number;
  /** In the order of the texts. */
  resourceKeys: number[];
  texts: CatalogTexts;
}

/** Whole catalogs, as filters see them: assembled, each with the offers that apply to its resources. */
export async function readCatalogTexts(
  database: Queryable,
  keys: readonly number[],
  gate: Gate,
): Promise<WholeCatalog[]> {
  const [heads, rows] = await Promise.all([
    readCatalogHeads(database, keys),
    readCatalogResources(database, keys),
  ]);
  const catalogs = new Map<number, WholeCatalog>();
  for (const [key, head] of heads) {
    catalogs.set(key, { key, resourceKeys: [], texts: { head, resources: [], offers: [] } });
  }
  const places = new Map<number, { catalog: WholeCatalog; place: number }>();
  for (const { key, catalog_key, document } of rows) {
    const catalog = catalogs.get(catalog_key);
    if (catalog === undefined) continue;
    places.set(key, { catalog, place: catalog.resourceKeys.length });
    catalog.resourceKeys.push(key);
    catalog.texts.resources.push(document);
  }
  await addOffers(database, places, gate);
  return [...catalogs.values()];
}

async function addOffers(
  database: Queryable,
  places: ReadonlyMap<number, { catalog: WholeCatalog; place: number }>,
  gate: Gate,
): Promise<void> {
  const applied = await findOffers(database, [...places.keys()], gate);
  const documents = await readDocuments(database, 'offer', [
    ...new Set(applied.map(({ offer_key }) => offer_key)),
  ]);
  const listed = new Map<WholeCatalog, Map<number, number[]>>();
  for (const { resource_key, offer_key } of applied) {
    const at = places.get(resource_key);
    if (at === undefined) continue;
    const offers = listed.get(at.catalog) ?? new Map<number, number[]>();
    addTo(offers, offer_key, at.place);
    listed.set(at.catalog, offers);
  }
  for (const [{ key: home, texts }, offers] of listed) {
    for (const [key, covers] of [...offers].sort(byPlaceIn(home))) {
      const text = documents.get(key);
      if (text !== undefined) texts.offers.push({ text, covers });
    }
  }
}

/** As a catalog lists them (rules/discover/attach-offers.ts): its own offers first, then others, each in the order of keys. */
function byPlaceIn(home: number): (a: readonly [number, unknown], b: readonly [number, unknown]) => number {
  const isForeign = (key: number) => Number(catalogKeyOf(key) !== home);
  return ([a], [b]) => isForeign(a) - isForeign(b) || a - b;
}
