import { addTo } from '../../group.ts';
import { bigintArray, smallintArray } from '../../storage/binary-arrays.ts';
import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { ProviderName } from '../cache/provider-cache.ts';
import type { KeyList } from '../lists/posting-list.ts';
import { firstNumbers } from './keys.ts';
import {
  addScope,
  type Scope,
  type ScopeParameters,
  servedCondition,
  sharedNetworkCondition,
  validCondition,
} from './scope.ts';

// Which offers that name resources apply to which of them at a moment, asked from either side (rules/discover/attach-offers.ts says the same of
// values): of one owner, in a shared network, by resourceIds. Of several with one id, a catalog lists its own, or else the first. Those without
// resourceIds are facts about providers (wide-offers.ts).

/** An offer that applies to a resource. */
interface AppliedOffer {
  resource_key: number;
  offer_key: number;
}

/** An offer, and the resources of one catalog that it applies to. */
interface ApplyingOffer {
  key: number;
  resources: readonly number[];
}

/** The offers that name these resources and apply to them, in order; catalog by catalog, so that a row stands for many pairs. */
export async function findOffers(
  queryable: Queryable,
  keys: readonly number[],
  scope: Scope,
): Promise<ApplyingOffer[]> {
  if (keys.length === 0) return [];
  const parameters = new Parameters();
  const { rows } = await queryable.query<{ key: number; resources: string }>(
    `with found as materialized (
       select resource.key, resource.id, catalog.key as home, owner
       from unnest(${parameters.add(bigintArray(keys))}::bigint[]) as wanted (key)
       join discovery.resource using (key)
       join discovery.catalog on catalog.key = resource.catalog_key
     )
     select offer_key as key, array_to_json(array_agg(resource_key))::text as resources
     from (${selectNamedOffers(addScope(scope, parameters))}) as listed group by home, offer_key order by offer_key`,
    parameters.values,
    { prepared: true },
  );
  return rows.map(({ key, resources }) => ({ key, resources: JSON.parse(resources) }));
}

/** Selects (home, resource_key, offer_key) for the resources `found` (key, id, home, owner), of the offers `target` (offer_key) that satisfy a condition. */
export function selectNamedOffers(scope: ScopeParameters, condition = 'true'): string {
  return `select home, resource_key, offer_key from (
    with pair as materialized (
      select found.home, found.key as resource_key, target.offer_key
      from found cross join lateral (
        select offer_key from discovery.offer_target
        where offer_target.owner = found.owner and offer_target.resource_id = found.id offset 0) as target
      where ${condition}
    ) ${selectApplied(scope)}) as named`;
}

/** Selects those of `pair` (home, resource_key, offer_key) that apply. Whether an offer does is asked once for a catalog, not for each resource. */
function selectApplied(scope: ScopeParameters): string {
  return `, applied as materialized (
      select touched.home, touched.offer_key
      from (select distinct home, offer_key from pair) as touched
      join discovery.offer on offer.key = touched.offer_key
      join discovery.catalog as origin on origin.key = offer.catalog_key
      join discovery.catalog as home on home.key = touched.home
      where ${appliesCondition(scope)}
    )
    select pair.home, pair.resource_key, pair.offer_key from pair join applied using (home, offer_key)`;
}

/** The resources that these offers name and apply to. */
export async function findCovered(
  queryable: Queryable,
  offerKeys: readonly number[],
  scope: Scope,
): Promise<AppliedOffer[]> {
  if (offerKeys.length === 0) return [];
  const parameters = new Parameters();
  const { rows } = await queryable.query<AppliedOffer>(
    `select offer_key, resource_key from (
       with named as materialized (
         select offer.key as offer_key, owner, named.id
         from unnest(${parameters.add(bigintArray(offerKeys))}::bigint[]) as wanted (key) join discovery.offer using (key)
         cross join lateral (select distinct id from unnest(resource_ids) as named (id)) as named
       ), named_resource as materialized (${selectByIds('select distinct owner, id from named')}
       ), pair as materialized (
         select named_resource.home, named_resource.key as resource_key, named.offer_key
         from named join named_resource using (owner, id)
       ) ${selectApplied(addScope(scope, parameters))}) as covered`,
    parameters.values,
    { prepared: true },
  );
  return rows;
}

/** The resources that offers of some lists name and apply to, list by list: each with the highest weight of its offers there. */
export async function findBestCovered(
  queryable: Queryable,
  lists: ReadonlyMap<number, KeyList>,
  scope: Scope,
): Promise<Map<number, KeyList>> {
  if (lists.size === 0) return new Map();
  const parameters = new Parameters();
  const arrays = addLists(lists, parameters);
  const scopes = addScope(scope, parameters);
  // Resources are few beside the offers that may name them: for each, offers with the highest weight are asked first, and one that applies is enough.
  const { rows } = await queryable.query<BestRow>(
    `with asked as materialized (select * from unnest(${arrays}) as asked (list, key, weight)),
       level as materialized (select list, weight, array_agg(key order by key) as keys from asked group by list, weight),
       named as materialized (
         select distinct list, owner, named.id
         from asked join discovery.offer using (key) cross join unnest(resource_ids) as named (id)
       ),
       named_resource as materialized (${selectByIds('select distinct owner, id from named')})
     select list, named_resource.key, best.weight
     from named join named_resource using (owner, id) join discovery.catalog as home on home.key = named_resource.home
     cross join lateral (
       select weight from level cross join lateral (
         select from (
           select offer_key from discovery.offer_target
           where offer_target.owner = named.owner and resource_id = named.id and offer_key = any (level.keys) offset 0) as target
         join discovery.offer on offer.key = target.offer_key
         join discovery.catalog as origin on origin.key = offer.catalog_key
         where ${appliesCondition(scopes)} limit 1) as covering
       where level.list = named.list order by weight desc limit 1) as best
     order by list, named_resource.key`,
    parameters.values,
    { prepared: true },
  );
  return listBest(rows);
}

// Not prepared: a plan for arrays of any length takes those for short, and compares each of thousands of keys with each.

/** The resources that these offers name, and the heads of the catalogs of providers that wide ones are on, whether they apply now or not. */
export async function findReach(queryable: Queryable, offerKeys: ArrayLike<number>): Promise<number[]> {
  const { rows } = await queryable.query<{ key: number }>(
    `with wanted as materialized (
       select owner, provider_id, resource_ids from unnest($1::bigint[]) as wanted (key) join discovery.offer using (key)
     ),
     named as materialized (select distinct owner, named.id from wanted cross join unnest(resource_ids) as named (id))
     select key from (${selectByIds('select owner, id from named')}) as reached
     union all
     select key << 26 from (select distinct owner, provider_id from wanted where resource_ids is null) as provider
     join discovery.catalog using (owner, provider_id)`,
    [bigintArray(offerKeys)],
  );
  return rows.map(({ key }) => key);
}

/** Those of some resources that offers of some lists name and apply to, list by list: each with the highest weight of its offers there. */
export async function findBestAmong(
  queryable: Queryable,
  keys: ArrayLike<number>,
  lists: ReadonlyMap<number, KeyList>,
  scope: Scope,
): Promise<Map<number, KeyList>> {
  const parameters = new Parameters();
  const wanted = `${parameters.add(bigintArray(keys))}::bigint[]`;
  const arrays = addLists(lists, parameters);
  const { rows } = await queryable.query<BestRow>(
    `with asked as materialized (select * from unnest(${arrays}) as asked (list, key, weight)),
       found as materialized (
         select resource.key, resource.id, catalog.key as home, owner
         from unnest(${wanted}) as wanted (key) join discovery.resource using (key)
         join discovery.catalog on catalog.key = resource.catalog_key
       ),
       named as materialized (${selectNamedOffers(addScope(scope, parameters), 'target.offer_key in (select key from asked)')})
     select list, resource_key as key, max(weight) as weight
     from named join asked on asked.key = offer_key group by list, resource_key order by list, resource_key`,
    parameters.values,
  );
  return listBest(rows);
}

export interface BestRow {
  list: number;
  key: number;
  weight: number;
}

/** As arrays of lists, keys and weights. */
export function addLists(lists: ReadonlyMap<number, KeyList>, parameters: Parameters): string[] {
  const asked = [...lists];
  return [
    `${parameters.add(bigintArray(asked.flatMap(([list, { keys }]) => Array<number>(keys.length).fill(list))))}::bigint[]`,
    `${parameters.add(bigintArray(asked.flatMap(([, { keys }]) => [...keys])))}::bigint[]`,
    `${parameters.add(smallintArray(asked.flatMap(([, { weights }]) => [...weights])))}::smallint[]`,
  ];
}

export function listBest(rows: readonly BestRow[]): Map<number, KeyList> {
  const found = new Map<number, BestRow[]>();
  for (const row of rows) addTo(found, row.list, row);
  return new Map(
    Array.from(found, ([list, postings]) => [
      list,
      {
        keys: Float64Array.from(postings, ({ key }) => key),
        weights: Uint8Array.from(postings, ({ weight }) => weight),
      },
    ]),
  );
}

/** Selects (owner, id, key, home) of the resources with some ids (owner, id), in the catalogs of their owners. */
export function selectByIds(ids: string): string {
  return `select ids.owner, ids.id, resource.key, resource.catalog_key as home
    from (${ids}) as ids join discovery.resource on resource.id = ids.id
    join discovery.catalog on catalog.key = resource.catalog_key and catalog.owner = ids.owner`;
}

/** Offers that name resources, and the others by their providers. Those that are gone are left out. */
export interface DividedOffers {
  named: number[];
  wide: { provider: ProviderName; keys: number[] }[];
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
  const divided: DividedOffers = { named: [], wide: [] };
  for (const { owner, provider_id: providerId, keys: text } of rows) {
    const theirs: number[] = JSON.parse(text);
    if (providerId === null) for (const key of theirs) divided.named.push(key);
    else divided.wide.push({ provider: { owner, providerId }, keys: theirs });
  }
  return divided;
}

/** Whether the offer is listed in the catalog `home` now, where it names one of its resources. */
export function appliesCondition(scope: ScopeParameters): string {
  return `${countsCondition('offer', 'origin', scope)} and (offer.catalog_key = home.key or not ${rivalCondition(scope)})`;
}

/** Whether an offer of a catalog counts in the catalog `home` now. */
function countsCondition(offer: string, catalog: string, scope: ScopeParameters): string {
  return `${validCondition(offer, scope)} and ${servedCondition(catalog, scope)} and ${sharedNetworkCondition(catalog, 'home')}`;
}

/** Whether another offer with the id of this one, of the catalog `home` itself or an earlier one, is listed there. */
function rivalCondition(scope: ScopeParameters): string {
  return `exists (
    select from discovery.offer as rival
    join discovery.catalog as stage on stage.key = rival.catalog_key
    where rival.owner = offer.owner and rival.id = offer.id and rival.key <> offer.key
      and (rival.catalog_key = home.key or rival.key < offer.key)
      and ${countsCondition('rival', 'stage', scope)}
      and case when rival.resource_ids is null then rival.provider_id = home.provider_id and exists (
            select from discovery.resource
            where resource.key > home.key << 26 and resource.key < (home.key << 26) + ${firstNumbers.offer})
          else exists (
            select from discovery.resource as named
            where named.id = any (rival.resource_ids) and named.catalog_key = home.key
          ) end)`;
}
