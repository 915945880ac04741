import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import {
  createParameters,
  type Gate,
  servedCondition,
  sharedNetworkCondition,
  validCondition,
} from './discovery-gate.ts';

// What an answer is made of: the documents of the resources that were found, their catalogs, and the offers that apply to them.

export interface FoundDocument {
  key: number;
  catalog_key: number;
  document: string;
}

/** In the order of the keys. One that has gone meanwhile is left out. */
export async function readResources(
  queryable: Queryable,
  keys: readonly number[],
): Promise<{ resources: FoundDocument[]; heads: Map<number, string> }> {
  const { rows } = await queryable.query<FoundDocument & { head: string | null }>(
    `select resource.key, catalog_key, document::text as document,
       case when row_number() over (partition by catalog_key order by place) = 1 then catalog.head end as head
     from unnest($1::bigint[]) with ordinality as found (key, place)
     join discovery.resource using (key)
     join discovery.catalog on catalog.key = catalog_key
     order by place`,
    [numberArray(keys)],
  );
  const heads = new Map(
    rows.flatMap(({ catalog_key, head }) => (head === null ? [] : [[catalog_key, head]])),
  );
  return { resources: rows, heads };
}

export async function readCatalogHeads(
  queryable: Queryable,
  keys: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await queryable.query<{ key: number; head: string }>(
    'select key, head from discovery.catalog where key = any ($1::bigint[]) order by key',
    [numberArray(keys)],
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
    [numberArray(keys)],
  );
  return rows;
}

/** An offer that applies to a resource. */
export interface AppliedOffer {
  resource_key: number;
  offer_key: number;
  offer_id: string;
}

/**
 * The offers that apply to these resources now: of the same owner, in a shared network, by resourceIds or else by the provider. An own
 * offer of a catalog stands for others with its id; among others, the first.
 */
export async function findOffers(
  queryable: Queryable,
  keys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (keys.length === 0) return [];
  const parameters = createParameters();
  const wanted = parameters.add(numberArray(keys));
  const valid = validCondition('offer', gate.now, parameters);
  const { rows } = await queryable.query<AppliedOffer>(
    `with found as materialized (
       select resource.key, resource.id, catalog.key as catalog_key, owner, provider_id, networks
       from unnest(${wanted}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     ), named as (
       select found.key as resource_key, found.catalog_key, found.networks, offer_key
       from found join discovery.offer_target using (owner)
       where offer_target.resource_id = found.id
       union all
       select found.key, found.catalog_key, found.networks, offer.key
       from found join discovery.offer using (owner, provider_id)
       where offer.resource_ids is null
     )
     select distinct on (named.resource_key, offer.id) named.resource_key, offer_key, offer.id as offer_id
     from named
     join discovery.offer on offer.key = offer_key
     join discovery.catalog as origin on origin.key = offer.catalog_key
     where ${valid} and ${servedCondition('origin', gate, parameters)}
       and (offer.catalog_key = named.catalog_key or (
         ${sharedNetworkCondition('origin', 'named')}
         and not exists (
           select from discovery.offer as own
           where own.id = offer.id and own.catalog_key = named.catalog_key
             and ${validCondition('own', gate.now, parameters)}
             and (own.resource_ids is null
                  and own.provider_id = (select provider_id from discovery.catalog as home where home.key = named.catalog_key)
               or exists (
                  select from discovery.resource as covered
                  where covered.id = any (own.resource_ids) and covered.catalog_key = named.catalog_key))
         )))
     order by named.resource_key, offer.id, offer.catalog_key <> named.catalog_key, offer_key`,
    parameters.values,
  );
  return rows;
}
