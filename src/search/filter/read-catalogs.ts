import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import type { IndexReader } from '../cache/caches.ts';
import { catalogKeyOf } from '../documents/keys.ts';
import { findOffers } from '../documents/offers.ts';
import { findListings } from '../documents/read-wide-offers.ts';
import type { Scope } from '../documents/scope.ts';
import { listOffersIn } from '../documents/wide-offers.ts';
import { lowerBound } from '../lists/posting-list.ts';
import type { CatalogTexts } from './evaluate.ts';

interface WholeCatalogs {
  catalogs: WholeCatalog[];
  /** Of all of them: an offer that several catalogs list is here once. */
  offers: DocumentList;
}

interface WholeCatalog extends CatalogTexts {
  resources: DocumentList;
}

/** Documents as one JSON array: code that passes them on need not look at each. */
interface DocumentList {
  /** In ascending order, as the documents. */
  keys: Float64Array;
  text: string;
}

/** Whole catalogs, as filters see them: assembled, each with the offers that apply to its resources. */
export async function readCatalogTexts(
  database: IndexReader,
  keys: readonly number[],
  scope: Scope,
): Promise<WholeCatalogs> {
  const [rows, listings] = await Promise.all([
    readCatalogs(database, keys),
    findListings(database, keys, scope),
  ]);
  const catalogs = rows.map(({ key, head, ...resources }): WholeCatalog => {
    const listing = listings.get(key);
    const wide = listing ? listOffersIn(listing, key) : noDocuments.keys;
    return { key, head, resources: parseList(resources), wide, named: [] };
  });
  const byKey = new Map(catalogs.map((catalog) => [catalog.key, catalog]));
  const resourceKeys = catalogs.flatMap(({ resources }) => Array.from(resources.keys));
  for (const { key, resources } of await findOffers(database, resourceKeys, scope)) {
    const catalog = byKey.get(catalogKeyOf(resources[0] ?? 0));
    const inOrder = catalog?.resources.keys ?? noDocuments.keys;
    const positions = Uint32Array.from(resources, (resource) => lowerBound(inOrder, resource));
    catalog?.named.push({ key, positions });
  }
  return { catalogs, offers: await readOfferList(database, listOffers(catalogs)) };
}

const noDocuments: DocumentList = { keys: new Float64Array(), text: '[]' };

/** Catalogs with all their resources. */
async function readCatalogs(
  queryable: Queryable,
  keys: readonly number[],
): Promise<(ListRow & { key: number; head: string })[]> {
  const { rows } = await queryable.query<ListRow & { key: number; head: string }>(
    `select catalog.key, head, keys, text from discovery.catalog cross join lateral (
       select ${aggregateDocuments} from discovery.resource as document
       where document.key > catalog.key << 26 and document.key < (catalog.key + 1) << 26
     ) as resources where catalog.key = any ($1::bigint[]) order by catalog.key`,
    [bigintArray(keys)],
  );
  return rows;
}

function listOffers(catalogs: readonly CatalogTexts[]): number[] {
  const wanted = new Set<number>();
  for (const wide of new Set(catalogs.map((texts) => texts.wide))) for (const key of wide) wanted.add(key);
  for (const { named } of catalogs) for (const { key } of named) wanted.add(key);
  return [...wanted];
}

export async function readOfferList(queryable: Queryable, keys: ArrayLike<number>): Promise<DocumentList> {
  if (keys.length === 0) return noDocuments;
  const { rows } = await queryable.query<ListRow>(
    `select ${aggregateDocuments} from discovery.offer as document where key = any ($1::bigint[])`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return rows[0] ? parseList(rows[0]) : noDocuments;
}

interface ListRow {
  keys: string;
  text: string;
}

const aggregateDocuments = `coalesce(array_to_json(array_agg(document.key order by document.key))::text, '[]') as keys,
  '[' || coalesce(string_agg(document.document::text, ',' order by document.key), '') || ']' as text`;

function parseList({ keys, text }: ListRow): DocumentList {
  return { keys: Float64Array.from(JSON.parse(keys) as number[]), text };
}
