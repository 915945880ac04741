import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import { checkCondition, type DocumentCheck } from './discovery-candidates.ts';
import { addGate, type Gate } from './discovery-gate.ts';
import { listedOffers } from './discovery-offers.ts';
import type { KnownHome, KnownOffer, KnownResource } from './page-memory.ts';
import { Parameters } from './parameters.ts';
import { readPeriod, validityText } from './validity-text.ts';

// Catalogs, as answers list them: some of their resources, and the offers on those.

export interface ReadHome extends KnownHome {
  /** No offer of another catalog applies: these are its offers at any time, in any network. Otherwise they are those that count now. */
  isForGood: boolean;
}

/**
 * The catalogs of these resources by their keys; what has gone, or does not pass the check, is left out. One statement: a search waits longer for the
 * way to the database and back than for what happens there.
 */
export async function readHomes(
  queryable: Queryable,
  keys: readonly number[],
  { gate, check = {} }: { gate: Gate; check?: DocumentCheck },
): Promise<Map<number, ReadHome>> {
  const parameters = new Parameters();
  const { rows } = await queryable.query<HomeRow>(
    `with page as materialized (
       select resource.key, resource.id, catalog.key as home, owner, provider_id, networks, document, head
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
       where ${checkCondition(check, parameters)}
     ), homes as materialized (
       select distinct on (home) home, owner, provider_id, head from page
     ), shared as materialized (
       select home from page cross join lateral (
         select from discovery.offer_target
         where offer_target.owner = page.owner and resource_id = page.id and offer_key >> 26 <> home limit 1) as target
       union
       select home from homes cross join lateral (
         select from discovery.offer
         where offer.owner = homes.owner and offer.provider_id = homes.provider_id and resource_ids is null and catalog_key <> home
         limit 1) as wide
     ), found as materialized (
       select * from page where home in (select home from shared)
     ), listed as materialized (
       select home, page.key as resource_key, offer_key from page cross join lateral (
         select offer_key from discovery.offer_target
         where offer_target.owner = page.owner and resource_id = page.id offset 0) as target
       where home not in (select home from shared)
       union all
       select home, null, wide.key from homes cross join lateral (
         select key from discovery.offer
         where offer.owner = homes.owner and offer.provider_id = homes.provider_id and resource_ids is null offset 0) as wide
       where home not in (select home from shared)
       union all
       ${listedOffers(addGate(gate, parameters))}
     )
     select 1 as kind, home, null::bigint as key, null::bigint as offer_key, head::text as document,
       case when home not in (select home from shared) then owner end as owner, null as validity from homes
     union all
     select 2, home, key, null, document::text, null, null from page
     union all
     select 3, null, null, key, document::text, null, ${validityText} from discovery.offer where key in (select offer_key from listed)
     union all
     select 4, home, resource_key, offer_key, null, null, null from listed
     order by kind, offer_key`,
    parameters.values,
    { prepared: true },
  );
  return homesOf(rows);
}

type HomeRow =
  /** The owner is null where offers of other catalogs apply. */
  | { kind: 1; home: number; document: string; owner: string | null }
  | { kind: 2; home: number; key: number; document: string }
  | { kind: 3; offer_key: number; document: string; validity: string | null }
  /** An offer on a resource, or, where that is null, on all of the catalog. */
  | { kind: 4; home: number; key: number | null; offer_key: number };

function homesOf(rows: readonly HomeRow[]): Map<number, ReadHome> {
  const homes = new Map<number, Draft>();
  const offers = new Map<number, KnownOffer>();
  for (const row of rows) {
    switch (row.kind) {
      case 1: {
        const { home, document, owner } = row;
        const listed = { offers: [], resources: new Map() };
        homes.set(home, {
          owner: owner ?? '',
          head: { text: document },
          ...listed,
          isForGood: owner !== null,
        });
        break;
      }
      case 2:
        homes.get(row.home)?.resources.set(row.key, { document: { text: row.document }, offers: [] });
        break;
      case 3: {
        const { offer_key: key, document, validity } = row;
        offers.set(key, { key, document: { text: document }, validity: readPeriod(validity) });
        break;
      }
      case 4: {
        const home = homes.get(row.home);
        const offer = offers.get(row.offer_key);
        const lister = row.key === null ? home : home?.resources.get(row.key);
        if (offer) lister?.offers.push(offer);
      }
    }
  }
  return homes;
}

interface Draft extends ReadHome {
  offers: KnownOffer[];
  resources: Map<number, KnownResource & { offers: KnownOffer[] }>;
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

export interface FoundDocument {
  key: number;
  catalog_key: number;
  document: string;
}
