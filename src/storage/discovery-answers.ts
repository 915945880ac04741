import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import { type CandidateQuery, checkCondition, type DocumentCheck, passing } from './discovery-candidates.ts';
import { addGate } from './discovery-gate.ts';
import { type AppliedOffer, applyOffers, type ListedOffer, listedOffers } from './discovery-offers.ts';
import { Parameters } from './parameters.ts';

// What an answer is made of: the documents of the resources that were found, their catalogs, and the offers that apply to them. One statement:
// a search waits longer for the way to the database and back than for what happens there.

export interface PageQuery extends CandidateQuery {
  /** The candidates have passed already. */
  isSettled: boolean;
  /** What every document on the page must satisfy, lest it was found only because its hash is that of something else. */
  confirm?: DocumentCheck;
  /** Of those that pass, so many are counted at most, and the page is cut from them. */
  atMost: number;
  offset: number;
  limit: number;
}

export interface FoundPage {
  /** How many passed. */
  count: number;
  /** In the order of the keys. What has gone meanwhile is left out. */
  resources: FoundDocument[];
  /** Catalog-level members, JSON texts, by the key of the catalog. */
  heads: Map<number, string>;
  applied: AppliedOffer[];
  /** JSON texts, by key. */
  offers: Map<number, string>;
}

export interface FoundDocument {
  key: number;
  catalog_key: number;
  document: string;
}

export async function readPage(queryable: Queryable, query: PageQuery): Promise<FoundPage> {
  const parameters = new Parameters();
  const candidates = query.isSettled
    ? `select key, place from unnest(${parameters.add(bigintArray(query.keys))}::bigint[]) with ordinality as named (key, place)`
    : passing(query, parameters);
  const moment = addGate(query.gate, parameters);
  const { rows } = await queryable.query<PageRow>(
    `with passed as materialized (
       select key, place from (${candidates}) as candidate order by place, key limit ${parameters.add(query.atMost)}
     ), found as materialized (
       select place, page.key, resource.id, catalog.key as home, owner, provider_id, networks, document, head
       from (select key, place from passed order by place, key
             offset ${parameters.add(query.offset)} limit ${parameters.add(query.limit)}) as page
       join discovery.resource on resource.key = page.key
       join discovery.catalog on catalog.key = page.key >> 26
       where ${checkCondition(query.confirm ?? {}, parameters)}
     ), listed as materialized (${listedOffers(moment)})
     select null::bigint as place, count(*) as key, null::bigint as home, null as document, null::bigint as offer_key from passed
     union all
     select row_number() over (order by place, key), key, home, document::text, null from found
     union all
     select null, null, home, head::text, null from (select distinct on (home) home, head from found) as catalog
     union all
     select null, resource_key, home, null, offer_key from listed
     union all
     select null, null, null, document::text, offer.key from discovery.offer where key in (select offer_key from listed)
     order by place, offer_key`,
    parameters.values,
    { prepared: true },
  );
  return pageOf(rows);
}

/** Of one kind: what was counted, a resource, a catalog, an offer that is listed, and its document. */
interface PageRow {
  place: number | null;
  key: number | null;
  home: number | null;
  document: string | null;
  offer_key: number | null;
}

function pageOf(rows: readonly PageRow[]): FoundPage {
  const page: FoundPage = { count: 0, resources: [], heads: new Map(), applied: [], offers: new Map() };
  const listed: ListedOffer[] = [];
  for (const { place, key, home, document, offer_key } of rows) {
    if (offer_key !== null && home !== null) listed.push({ home, resource_key: key, offer_key });
    else if (offer_key !== null) page.offers.set(offer_key, document ?? '');
    else if (place !== null)
      page.resources.push({ key: key ?? 0, catalog_key: home ?? 0, document: document ?? '' });
    else if (home !== null) page.heads.set(home, document ?? '');
    else page.count = key ?? 0;
  }
  page.applied = applyOffers(
    listed,
    page.resources.map(({ key }) => key),
  );
  return page;
}

export async function readCatalogHeads(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await queryable.query<{ key: number; head: string }>(
    'select key, head from discovery.catalog where key = any ($1::bigint[]) order by key',
    [bigintArray(keys)],
  );
  return new Map(rows.map(({ key, head }) => [key, head]));
}

/** All resources of these catalogs. */
export async function readCatalogResources(
  queryable: Queryable,
  keys: readonly number[],
): Promise<FoundDocument[]> {
  const { rows } = await queryable.query<FoundDocument>(
    `select resource.key, catalog_key, document::text as document
     from unnest($1::bigint[]) as wanted (key)
     join discovery.resource on resource.key > wanted.key << 26 and resource.key < (wanted.key + 1) << 26
     order by resource.key`,
    [bigintArray(keys)],
  );
  return rows;
}
