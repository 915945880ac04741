import { addTo } from '../group.ts';
import { bigintArray, smallintArray } from './binary-arrays.ts';
import type { Queryable } from './database.ts';
import {
  addGate,
  type Gate,
  type GateParameters,
  servedCondition,
  sharedNetworkCondition,
  validCondition,
} from './discovery-gate.ts';
import { firstNumbers } from './discovery-keys.ts';
import type { KeyList } from './key-list.ts';
import { Parameters } from './parameters.ts';
import type { ProviderName } from './provider-memory.ts';

// Which offers that name resources apply to which of them at a moment, asked from either side (rules/discover/attach-offers.ts says the same of
// values): of one owner, in a shared network, by resourceIds. Of several with one id, a catalog lists its own, or else the first. Those without
// resourceIds are facts about providers (wide-offers.ts).

/** An offer that applies to a resource. */
export interface AppliedOffer {
  resource_key: number;
  offer_key: number;
}

/** The offers that name these resources and apply to them. */
export async function findOffers(
  queryable: Queryable,
  keys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (keys.length === 0) return [];
  const parameters = new Parameters();
  const { rows } = await queryable.query<AppliedOffer>(
    `with found as materialized (
       select resource.key, resource.id, catalog.key as home, owner
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     )
     ${namedOffers(addGate(gate, parameters))} order by offer_key`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/** Selects (home, resource_key, offer_key) for the resources `found` (key, id, home, owner). */
export function namedOffers(gate: GateParameters): string {
  return `select found.home, found.key as resource_key, offer.key as offer_key
     from found
     cross join lateral (
       select offer_key from discovery.offer_target
       where offer_target.owner = found.owner and offer_target.resource_id = found.id offset 0) as target
     join discovery.offer on offer.key = target.offer_key
     join discovery.catalog as origin on origin.key = offer.catalog_key
     join discovery.catalog as home on home.key = found.home
     where ${countsCondition(gate)} and (offer.catalog_key = home.key or not ${rivalCondition(gate)})`;
}

/** The resources that these offers name and apply to. */
export async function findCovered(
  queryable: Queryable,
  offerKeys: readonly number[],
  gate: Gate,
): Promise<AppliedOffer[]> {
  if (offerKeys.length === 0) return [];
  const parameters = new Parameters();
  const wanted = `unnest(${parameters.add(bigintArray(offerKeys))}::bigint[]) as wanted (key)`;
  const { rows } = await queryable.query<AppliedOffer>(
    `with wanted as (select * from ${wanted}) ${coveredResources(addGate(gate, parameters))}`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/** The resources that offers of some lists name and apply to, list by list: each with the highest weight of its offers there. */
export async function findBestCovered(
  queryable: Queryable,
  lists: ReadonlyMap<number, KeyList>,
  gate: Gate,
): Promise<Map<number, KeyList>> {
  const asked = [...lists].filter(([, { keys }]) => keys.length > 0);
  if (asked.length === 0) return new Map();
  const parameters = new Parameters();
  const arrays = [
    `${parameters.add(bigintArray(asked.flatMap(([list, { keys }]) => Array<number>(keys.length).fill(list))))}::bigint[]`,
    `${parameters.add(bigintArray(asked.flatMap(([, { keys }]) => [...keys])))}::bigint[]`,
    `${parameters.add(smallintArray(asked.flatMap(([, { weights }]) => [...weights])))}::smallint[]`,
  ];
  const { rows } = await queryable.query<{ list: number; key: number; weight: number }>(
    `with asked as materialized (select * from unnest(${arrays}) as asked (list, key, weight)),
       wanted as (select distinct key from asked),
       covered as (${coveredResources(addGate(gate, parameters))})
     select list, resource_key as key, max(weight) as weight
     from covered join asked on asked.key = offer_key group by list, resource_key order by list, resource_key`,
    parameters.values,
    { prepared: true },
  );
  const found = new Map<number, typeof rows>();
  for (const row of rows) addTo(found, row.list, row);
  return new Map(
    Array.from(found, ([list, places]) => [
      list,
      {
        keys: Float64Array.from(places, ({ key }) => key),
        weights: Uint8Array.from(places, ({ weight }) => weight),
      },
    ]),
  );
}

/** Selects (offer_key, resource_key) for the offers `wanted` (key). */
function coveredResources(gate: GateParameters): string {
  return `select offer.key as offer_key, resource.key as resource_key
     from wanted
     join discovery.offer using (key)
     cross join lateral (select distinct id from unnest(resource_ids) as named (id)) as named
     join discovery.resource on resource.id = named.id
     join discovery.catalog as origin on origin.key = offer.catalog_key
     join discovery.catalog as home on home.key = resource.catalog_key and home.owner = offer.owner
     where ${countsCondition(gate)} and (offer.catalog_key = home.key or not ${rivalCondition(gate)})`;
}

/** Offers that name resources, and the others by their providers. Those that are gone are left out. */
export interface DividedOffers {
  named: number[];
  wide: { provider: ProviderName; keys: number[] }[];
  owners: Set<string>;
}

export async function divideOffers(queryable: Queryable, keys: ArrayLike<number>): Promise<DividedOffers> {
  const { rows } = await queryable.query<{ owner: string; provider_id: string | null; keys: string }>(
    `select owner, provider_id, array_to_json(array_agg(key))::text as keys
     from (
       select offer.key, owner, case when resource_ids is null then provider_id end as provider_id
       from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key)
     ) as offer
     group by owner, provider_id`,
    [bigintArray(keys)],
    { prepared: true },
  );
  const divided: DividedOffers = { named: [], wide: [], owners: new Set() };
  for (const { owner, provider_id: providerId, keys: text } of rows) {
    divided.owners.add(owner);
    const theirs: number[] = JSON.parse(text);
    if (providerId === null) for (const key of theirs) divided.named.push(key);
    else divided.wide.push({ provider: { owner, providerId }, keys: theirs });
  }
  return divided;
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
