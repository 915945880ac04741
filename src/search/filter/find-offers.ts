import { bigintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import { appliesCondition, selectByIds } from '../documents/offers.ts';
import { addScope, type Scope } from '../documents/scope.ts';
import { checkCondition, type DocumentCheck } from './check-documents.ts';

// Statements for a filter that looks at each offer by itself: which offers may pass, which resources they name, and which offers name a resource. They return offers and resources once
// each, never as pairs.

/** The offers whose documents pass a check, at most so many: where it asks for a value, an index leads to them. */
export async function findPassingOffers(
  queryable: Queryable,
  check: DocumentCheck,
  atMost: number,
): Promise<number[]> {
  const parameters = new Parameters();
  // Without a limit inside, which would let PostgreSQL hope to find enough sooner by reading all offers.
  const { rows } = await queryable.query<{ keys: string | null }>(
    `with passing as materialized (select key from discovery.offer where ${checkCondition(check, parameters)})
     select array_to_json(array_agg(key))::text as keys from (select key from passing limit ${parameters.add(atMost)}) as first`,
    parameters.values,
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The resources of the owners of these offers that the offers name, in order, each once. Whether the offers apply to them is not asked. */
export async function findNamed(queryable: Queryable, offerKeys: readonly number[]): Promise<number[]> {
  if (offerKeys.length === 0) return [];
  const { rows } = await queryable.query<{ keys: string | null }>(
    `with named as materialized (
       select distinct owner, named.id
       from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key) cross join unnest(resource_ids) as named (id)
     )
     select array_to_json(array_agg(key order by key))::text as keys from (${selectByIds('select * from named')}) as named_resource`,
    [bigintArray(offerKeys)],
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** The offers that name one of these resources, each once. Whether they apply is not asked. */
export async function findNaming(queryable: Queryable, keys: readonly number[]): Promise<number[]> {
  if (keys.length === 0) return [];
  const { rows } = await queryable.query<{ keys: string | null }>(
    `with found as materialized (
       select distinct owner, resource.id from unnest($1::bigint[]) as wanted (key)
       join discovery.resource using (key) join discovery.catalog on catalog.key = resource.catalog_key
     )
     select array_to_json(array_agg(distinct offer_key))::text as keys
     from found cross join lateral (
       select offer_key from discovery.offer_target
       where offer_target.owner = found.owner and offer_target.resource_id = found.id offset 0) as target`,
    [bigintArray(keys)],
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}

/** Those of the resources that one of these offers names and applies to: the first one that does is enough. */
export async function findCoveredAmong(
  queryable: Queryable,
  keys: readonly number[],
  offerKeys: readonly number[],
  scope: Scope,
): Promise<number[]> {
  if (keys.length === 0 || offerKeys.length === 0) return [];
  const parameters = new Parameters();
  const scopes = addScope(scope, parameters);
  const { rows } = await queryable.query<{ keys: string | null }>(
    `with found as materialized (
       select resource.key, resource.id, owner, resource.catalog_key
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key) join discovery.catalog on catalog.key = resource.catalog_key
     )
     select array_to_json(array_agg(found.key))::text as keys
     from found cross join lateral (
       select from (
         select offer_key from discovery.offer_target
         where offer_target.owner = found.owner and resource_id = found.id
           and offer_key = any (${parameters.add(bigintArray(offerKeys))}::bigint[]) offset 0) as target
       join discovery.offer on offer.key = target.offer_key
       join discovery.catalog as origin on origin.key = offer.catalog_key
       join discovery.catalog as home on home.key = found.catalog_key
       where ${appliesCondition(scopes)} limit 1) as covering`,
    parameters.values,
    { prepared: true },
  );
  return JSON.parse(rows[0]?.keys ?? '[]');
}
