import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import {
  type CandidateQuery,
  checkCondition,
  type DocumentCheck,
  isToBeLookedUp,
  passing,
} from './discovery-candidates.ts';
import { addGate, type Gate } from './discovery-gate.ts';
import { type AppliedOffer, applyOffers, type ListedOffer, listedOffers } from './discovery-offers.ts';
import { Parameters } from './parameters.ts';

// What an answer is made of: the documents of the resources that were found, their catalogs, and the offers that apply to them. One statement:
// a search waits longer for the way to the database and back than for what happens there.

export interface PageQuery extends CandidateQuery {
  gate: Gate;
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
  if (!query.isSettled && isToBeLookedUp(query)) return readPassingPage(queryable, query);
  const { keys, atMost, offset, limit } = query;
  const count = Math.min(keys.length, atMost);
  const onPage = Array.from(keys).slice(offset, Math.min(count, offset + limit));
  const parameters = new Parameters();
  const named = `select key, place from unnest(${parameters.add(bigintArray(onPage))}::bigint[]) with ordinality as named (key, place)`;
  const page =
    onPage.length === 0 ? emptyPage() : await readNamed(queryable, query, { page: named, parameters });
  return { ...page, count };
}

/** Counts what passes, and cuts the page from it. */
async function readPassingPage(queryable: Queryable, query: PageQuery): Promise<FoundPage> {
  const parameters = new Parameters();
  return readNamed(queryable, query, {
    parameters,
    passed: `passed as materialized (
       select key, place from (${passing(query, parameters)}) as candidate order by place, key limit ${parameters.add(query.atMost)}
     ), `,
    page: `select key, place from passed order by place, key offset ${parameters.add(query.offset)} limit ${parameters.add(query.limit)}`,
    counted: `select null::bigint as place, count(*) as key, null::bigint as home, null as document, null::bigint as offer_key from passed
     union all`,
  });
}

async function readNamed(
  queryable: Queryable,
  { confirm = {}, gate }: PageQuery,
  { passed = '', page, counted = '', parameters }: PageTexts,
): Promise<FoundPage> {
  const { rows } = await queryable.query<PageRow>(
    `with ${passed} found as materialized (
       select place, page.key, resource.id, catalog.key as home, owner, provider_id, networks, document, head
       from (${page}) as page
       join discovery.resource on resource.key = page.key
       join discovery.catalog on catalog.key = page.key >> 26
       where ${checkCondition(confirm, parameters)}
     ), listed as materialized (${listedOffers(addGate(gate, parameters))})
     ${counted}
     select row_number() over (order by place, key) as place, key, home, document::text as document, null::bigint as offer_key from found
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

/** Parts of the statement: what passes, which of that is on the page, and how many those that pass are. */
interface PageTexts {
  passed?: string;
  page: string;
  counted?: string;
  parameters: Parameters;
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
  const page = emptyPage();
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

function emptyPage(): FoundPage {
  return { count: 0, resources: [], heads: new Map(), applied: [], offers: new Map() };
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
