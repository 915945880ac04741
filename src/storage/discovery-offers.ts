import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import {
  createParameters,
  type Gate,
  type Parameters,
  servedCondition,
  sharedNetworkCondition,
  validCondition,
} from './discovery-gate.ts';
import { catalogKeyOf } from './discovery-keys.ts';

// Which offers apply to which resources at a moment, asked from either side (rules/discover/attach-offers.ts says the same of values): of one
// owner, in a shared network, by resourceIds or else by the provider. Of several with one id, a catalog lists its own, or else the first.

/** An offer that applies to a resource. */
export interface AppliedOffer {
  resource_key: number;
  offer_key: number;
}

/** The offers that apply to these resources. */
export async function findOffers(
  queryable: Queryable,
  keys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (keys.length === 0) return [];
  const parameters = createParameters();
  const counts = countsCondition(gate, parameters);
  const rival = rivalCondition(gate, parameters);
  // Those of a provider are looked for once for a catalog, and others with their id left out before any closer look.
  const { rows } = await queryable.query<{ home: number; resource_key: number | null; offer_key: number }>(
    `with found as materialized (
       select resource.key, resource.id, resource.catalog_key, owner
       from unnest(${parameters.add(numberArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     )
     select home.key as home, found.key as resource_key, offer.key as offer_key
     from found
     join discovery.offer_target using (owner)
     join discovery.offer on offer.key = offer_key
     join discovery.catalog as origin on origin.key = offer.catalog_key
     join discovery.catalog as home on home.key = found.catalog_key
     where offer_target.resource_id = found.id and ${counts} and (offer.catalog_key = home.key or not ${rival})
     union all
     select home.key, null, offer.key
     from (
       select distinct on (home.key, offer.id) home.key as home_key, offer.key as offer_key
       from (select distinct catalog_key as key from found) as wanted
       join discovery.catalog as home using (key)
       join discovery.offer using (owner, provider_id)
       join discovery.catalog as origin on origin.key = offer.catalog_key
       where offer.resource_ids is null and ${counts}
       order by home.key, offer.id, offer.catalog_key <> home.key, offer.key
     ) as provided
     join discovery.offer on offer.key = offer_key
     join discovery.catalog as home on home.key = home_key
     where offer.catalog_key = home.key or not ${rival}
     order by 3`,
    parameters.values,
    { prepared: true },
  );
  const wide = rows.filter(({ resource_key }) => resource_key === null);
  return [
    ...rows.flatMap(({ resource_key, offer_key }) =>
      resource_key === null ? [] : [{ resource_key, offer_key }],
    ),
    ...keys.flatMap((key) =>
      wide
        .filter(({ home }) => home === catalogKeyOf(key))
        .map(({ offer_key }) => ({ resource_key: key, offer_key })),
    ),
  ];
}

/** The resources that these offers apply to. */
export async function findCovered(
  queryable: Queryable,
  offerKeys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (offerKeys.length === 0) return [];
  const parameters = createParameters();
  const { rows } = await queryable.query<AppliedOffer>(
    `with covered as (
       select offer.key as offer_key, resource.key as resource_key
       from unnest(${parameters.add(numberArray(offerKeys))}::bigint[]) as wanted (key)
       join discovery.offer using (key)
       cross join lateral unnest(resource_ids) as named (id)
       join discovery.resource on resource.id = named.id
       union
       select offer.key, resource.key
       from unnest(${parameters.add(numberArray(offerKeys))}::bigint[]) as wanted (key)
       join discovery.offer using (key)
       join discovery.catalog as home using (owner, provider_id)
       join discovery.resource on resource.key > home.key << 26 and resource.key < (home.key + 1) << 26
       where resource_ids is null
     )
     select offer_key, resource_key
     from covered
     join discovery.offer on offer.key = offer_key
     join discovery.catalog as origin on origin.key = offer.catalog_key
     join discovery.catalog as home on home.key = resource_key >> 26 and home.owner = offer.owner
     where ${countsCondition(gate, parameters)}
       and (offer.catalog_key = home.key or not ${rivalCondition(gate, parameters)})`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/** Whether the offer counts now, for the catalog `home`. */
function countsCondition(gate: Gate, parameters: Parameters): string {
  return `${validCondition('offer', gate.now, parameters)} and ${servedCondition('origin', gate, parameters)}
    and ${sharedNetworkCondition('origin', 'home')}`;
}

/** Whether another offer with the id of this one, of the catalog `home` itself or an earlier one, is listed there. */
function rivalCondition(gate: Gate, parameters: Parameters): string {
  return `exists (
    select from discovery.offer as rival
    join discovery.catalog as stage on stage.key = rival.catalog_key
    where rival.owner = offer.owner and rival.id = offer.id and rival.key <> offer.key
      and (rival.catalog_key = home.key or rival.key < offer.key)
      and ${validCondition('rival', gate.now, parameters)} and ${servedCondition('stage', gate, parameters)}
      and ${sharedNetworkCondition('stage', 'home')}
      and case when rival.resource_ids is null then rival.provider_id = home.provider_id
            and exists (select from discovery.resource where resource.key > home.key << 26 and resource.key < (home.key << 26) + 33554432)
          else exists (
            select from discovery.resource as named
            where named.id = any (rival.resource_ids) and named.catalog_key = home.key
          ) end)`;
}
