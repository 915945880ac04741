import type { ResourceDirective } from '../../protocol/publish-messages.ts';
import type { Queryable } from '../database.ts';
import { type Sql, sql } from '../sql.ts';

// MASTER catalogs and the catalogs whose resources extend theirs.

export interface MasterCatalog {
  key: number;
  catalogId: string;
  owner: string | null;
  networks: string[];
  dependents: { catalogId: string; owner: string | null; networks: string[] }[];
  /** Counted up to a bound. */
  dependentCount: number;
  orMore: boolean;
}

/** Maximum extending resources of a master that are read, and maximum catalogs that are named. */
const lookedAt = 20_000;
const maxNamed = 50;

export const listPublishedMasters = createList({
  masters: sql`select key, id, owner, visible_to as networks from catalog.catalog where type = 'MASTER'`,
  extending: sql`select catalog_key as dependent from catalog.resource where master_key = master.key`,
  dependent: sql`select id, owner, visible_to as networks from catalog.catalog where key = dependent`,
});

export const listCrawledMasters = createList({
  masters: sql`select key, id, owner, networks from discovery.catalog where type = 'MASTER' and source = 'node'`,
  extending: sql`select target_id as dependent from discovery.crawl_extension where master_key = master.key`,
  dependent: sql`select catalog_id as id, node as owner, coalesce(networks, '{}') as networks
    from discovery.crawl_target as target
    left join discovery.catalog on source = 'node' and catalog.id = target.catalog_id and owner = target.node
    where target.id = dependent`,
});

function createList({ masters, extending, dependent }: Record<'masters' | 'extending' | 'dependent', Sql>) {
  return (queryable: Queryable, { limit, after = 0 }: { limit: number; after?: number }) =>
    queryable.rows<MasterCatalog>(sql`
      select master.key, master.id as "catalogId", master.owner, master.networks, count as "dependentCount",
      seen >= ${lookedAt} as "orMore", array(
        select jsonb_build_object('catalogId', named.id, 'owner', named.owner, 'networks', named.networks)
        from unnest(keys[1:${maxNamed}]) as dependent cross join lateral (${dependent}) as named
      ) as dependents
    from (select * from (${masters}) as every_master where key > ${after} order by key limit ${limit}) as master
    cross join lateral (
      select count(*) as count, coalesce(sum(times), 0)::integer as seen, array_agg(dependent order by dependent) as keys from (
        select dependent, count(*) as times from (${extending} limit ${lookedAt}) as looked group by dependent
      ) as distinct_ones
    ) as counted
    order by master.key`);
}

/** A catalog may have a million that extend others: an operator looks at some. */
const maxListed = 200;

/** Which master resources the resources of a catalog extend, and as which variants: a published catalog by its key, a crawled one by its node and id. */
export async function listExtensions(
  queryable: Queryable,
  of: { key: number } | { node: string; id: string },
): Promise<ResourceDirective[]> {
  const rows = await queryable.rows<{ resourceId: string; directive: string }>(
    'key' in of
      ? // A catalog that inherits nothing is not looked through.
        sql`select id as "resourceId", directive from catalog.resource where catalog_key = ${of.key} and master_key is not null
           and exists (select from catalog.inherited where catalog_key = ${of.key}) order by id limit ${maxListed}`
      : sql`select resource_id as "resourceId", directive from discovery.crawl_extension
         where target_id = (select id from discovery.crawl_target where node = ${of.node} and catalog_id = ${of.id})
         order by resource_id limit ${maxListed}`,
  );
  return rows.map(({ resourceId, directive }) => ({ resourceId, ...JSON.parse(directive) }));
}
