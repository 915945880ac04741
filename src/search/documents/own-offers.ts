import type { Queryable } from '../../storage/database.ts';
import { Parameters } from '../../storage/parameters.ts';
import type { KeyList, WholeList } from '../lists/posting-list.ts';
import { divideHeads } from '../lists/read-whole.ts';
import { addLists, type BestRow, listBest } from './offers.ts';
import { addMoment, type Scope, validCondition } from './scope.ts';

/**
 * What offers of some lists apply to in their own catalogs, list by list, each with the highest weight of its offers there: the resources that they name, and the heads of their catalogs where
 * they name none. A catalog lists its own offers whichever others there are, so that their validity is all that decides.
 */
export async function findOwnCovered(
  queryable: Queryable,
  lists: ReadonlyMap<number, KeyList>,
  { now }: Scope,
): Promise<Map<number, WholeList>> {
  if (lists.size === 0) return new Map();
  const parameters = new Parameters();
  const arrays = addLists(lists, parameters);
  const { rows } = await queryable.query<BestRow>(
    `with valid as materialized (
       select list, weight, catalog_key, provider_id, resource_ids
       from unnest(${arrays}) as asked (list, key, weight) join discovery.offer using (key)
       where ${validCondition('offer', addMoment(now, parameters))}
     )
     select list, key, max(weight) as weight from (
       select list, met.key, weight from valid cross join unnest(resource_ids) as named (id)
       cross join lateral (
         select key from discovery.resource where resource.id = named.id and resource.catalog_key = valid.catalog_key offset 0) as met
       union all
       select list, valid.catalog_key << 26, weight from valid
       join discovery.catalog on catalog.key = valid.catalog_key and catalog.provider_id = valid.provider_id
       where resource_ids is null
     ) as covered group by list, key order by list, key`,
    parameters.values,
    { prepared: true },
  );
  return new Map(Array.from(listBest(rows), ([list, covered]) => [list, divideHeads(covered)]));
}
