import { addTo } from '../group.ts';
import { bigintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import {
  addGate,
  type Gate,
  type GateParameters,
  servedCondition,
  sharedNetworkCondition,
  validCondition,
} from './discovery-gate.ts';
import { catalogKeyOf, firstNumbers } from './discovery-keys.ts';
import { Parameters } from './parameters.ts';

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
  const parameters = new Parameters();
  const { rows } = await queryable.query<ListedOffer>(
    `with found as materialized (
       select resource.key, resource.id, catalog.key as home, owner, provider_id, networks
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     )
     ${listedOffers(addGate(gate, parameters))} order by offer_key`,
    parameters.values,
    { prepared: true },
  );
  return applyOffers(rows, keys);
}

/** An offer that a catalog lists: for one of its resources, or, where that is null, for all of them. */
export interface ListedOffer {
  home: number;
  resource_key: number | null;
  offer_key: number;
}

/** The resources among these that listed offers apply to. */
export function applyOffers(listed: readonly ListedOffer[], keys: readonly number[]): AppliedOffer[] {
  const applied: AppliedOffer[] = [];
  const wide = new Map<number, number[]>();
  for (const { home, resource_key, offer_key } of listed) {
    if (resource_key !== null) applied.push({ resource_key, offer_key });
    else addTo(wide, home, offer_key);
  }
  for (const key of keys) {
    for (const offer_key of wide.get(catalogKeyOf(key)) ?? []) applied.push({ resource_key: key, offer_key });
  }
  return applied;
}

/**
 * Selects (home, resource_key, offer_key) for the resources `found` (key, id, home, owner, provider_id, networks). Those of a provider are
 * looked for once for a catalog, and of several with one id all but the first are left out before any closer look.
 */
export function listedOffers(gate: GateParameters): string {
  const counts = countsCondition(gate);
  const rival = rivalCondition(gate);
  return `select found.home, found.key as resource_key, offer.key as offer_key
     from found
     cross join lateral (
       select offer_key from discovery.offer_target
       where offer_target.owner = found.owner and offer_target.resource_id = found.id offset 0) as target
     join discovery.offer on offer.key = target.offer_key
     join discovery.catalog as origin on origin.key = offer.catalog_key
     join discovery.catalog as home on home.key = found.home
     where ${counts} and (offer.catalog_key = home.key or not ${rival})
     union all
     select home.key, null, offer.key
     from (select distinct home as key, owner, provider_id, networks from found) as home
     cross join lateral (
       select distinct on (offer.id) offer.key, offer.id, offer.owner, offer.catalog_key
       from discovery.offer join discovery.catalog as origin on origin.key = offer.catalog_key
       where offer.owner = home.owner and offer.provider_id = home.provider_id and offer.resource_ids is null and ${counts}
       order by offer.id, offer.catalog_key <> home.key, offer.key
       offset 0) as offer
     where offer.catalog_key = home.key or not ${rival}`;
}

/** The resources that these offers apply to. */
export async function findCovered(
  queryable: Queryable,
  offerKeys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (offerKeys.length === 0) return [];
  const parameters = new Parameters();
  const wanted = parameters.add(bigintArray(offerKeys));
  const moment = addGate(gate, parameters);
  const { rows } = await queryable.query<AppliedOffer>(
    `with covered as (
       select offer.key as offer_key, resource.key as resource_key
       from unnest(${wanted}::bigint[]) as wanted (key)
       join discovery.offer using (key)
       cross join lateral unnest(resource_ids) as named (id)
       join discovery.resource on resource.id = named.id
       union
       select offer.key, resource.key
       from unnest(${wanted}::bigint[]) as wanted (key)
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
     where ${countsCondition(moment)} and (offer.catalog_key = home.key or not ${rivalCondition(moment)})`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/** Whether the offer counts now, for the catalog `home`. */
function countsCondition(gate: GateParameters): string {
  return `${validCondition('offer', gate)} and ${servedCondition('origin', gate)}
    and ${sharedNetworkCondition('origin', 'home')}`;
}

/** Whether another offer with the id of this one, of the catalog `home` itself or an earlier one, is listed there. */
function rivalCondition(gate: GateParameters): string {
  return `exists (
    select from discovery.offer as rival
    join discovery.catalog as stage on stage.key = rival.catalog_key
    where rival.owner = offer.owner and rival.id = offer.id and rival.key <> offer.key
      and (rival.catalog_key = home.key or rival.key < offer.key)
      and ${validCondition('rival', gate)} and ${servedCondition('stage', gate)}
      and ${sharedNetworkCondition('stage', 'home')}
      and case when rival.resource_ids is null then rival.provider_id = home.provider_id and exists (
            select from discovery.resource
            where resource.key > home.key << 26 and resource.key < (home.key << 26) + ${firstNumbers.offer})
          else exists (
            select from discovery.resource as named
            where named.id = any (rival.resource_ids) and named.catalog_key = home.key
          ) end)`;
}
