import { addTo } from '../../group.ts';
import type { ExtendingResource, HostedMaster } from '../../rules/self-hosted/extend.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { InheritedTable } from '../inherited.ts';
import { sql } from '../sql.ts';

// The templates of MASTER catalogs, and the crawled resources that extend them (migrations/0005-discovery-sources.sql). A template is a resource
// of a MASTER catalog in the index, crawled or from a catalog service; what extends it is there in its assembled form, its own form is kept here.

export const inheritedTable: InheritedTable = {
  name: sql`discovery.crawl_inherited`,
  heir: sql`target_id`,
  heirs: { name: sql`discovery.crawl_target`, key: sql`id` },
  extending: { name: sql`discovery.crawl_extension`, id: sql`resource_id` },
  current: sql`select catalog_key as master_key, id as master_resource_id, digest as edition, octet_length(document::text) as bytes,
    document::text as template from discovery.resource`,
};

export function sumInherited(queryable: Queryable, targetId: number) {
  return queryable.one<{ catalog: number; publisher: number }>(sql`
    select coalesce(sum(inherited_bytes) filter (where id = ${targetId}), 0)::bigint as catalog,
      coalesce(sum(inherited_bytes), 0)::bigint as publisher
    from discovery.crawl_target where node_id = (select node_id from discovery.crawl_target where id = ${targetId})`);
}

/** The master resources of these ids, without their content, crawled ones first. Their catalogs, and those that had some of them before, are held until the transaction ends. */
export async function holdTemplates(
  tx: Transaction,
  masterResourceIds: readonly string[],
  formerKeys: readonly number[],
): Promise<Map<string, HostedMaster[]>> {
  await tx.query(sql`select from discovery.catalog
    where type = 'MASTER' and key in (
      select catalog_key from discovery.resource where id = any (${masterResourceIds}) union all select unnest(${formerKeys}::bigint[])
    ) order by key for share`);
  // A statement of its own: it sees what was committed while the lock was waited for.
  const rows = await tx.rows<HostedMaster>(sql`
    select resource.id, catalog.key as "catalogKey", coalesce(target.version, revision) as version, resource.digest as edition,
      octet_length(document::text) as bytes, owner, catalog.id as "catalogId", networks as "networkIds"
    from discovery.resource as resource join discovery.catalog as catalog on catalog.key = catalog_key
      left join discovery.crawl_target as target on source = 'node' and target.node = owner and target.catalog_id = catalog.id
    where resource.id = any (${masterResourceIds}) and type = 'MASTER' and case when source = 'node' then shown else served end
    order by source <> 'node', catalog.key`);
  const templates = new Map<string, HostedMaster[]>();
  for (const master of rows) addTo(templates, master.id, master);
  return templates;
}

const rowsAtOnce = 500;

/** @param resourceIds those that are written or removed; undefined for all of the target */
export async function writeExtensions(
  tx: Transaction,
  targetId: number,
  resourceIds: readonly string[] | undefined,
  extending: readonly ExtendingResource[],
): Promise<void> {
  await tx.query(sql`delete from discovery.crawl_extension
    where target_id = ${targetId} and (${resourceIds}::text[] is null or resource_id = any (${resourceIds}))`);
  for (let start = 0; start < extending.length; start += rowsAtOnce) {
    const rows = extending.slice(start, start + rowsAtOnce).map(rowOf);
    await tx.query(sql`insert into discovery.crawl_extension
        (target_id, resource_id, own, directive, master_resource_id, master_key, master_version, edition)
      select ${targetId}, id, own, directive, "masterResourceId", "masterKey", "masterVersion", edition
      from json_to_recordset(${JSON.stringify(rows)}::json) as extending (
        id text, own json, directive json, "masterResourceId" text, "masterKey" bigint, "masterVersion" bigint, edition bigint)`);
  }
}

function rowOf({ own, extension, template }: ExtendingResource) {
  const { id: masterResourceId, catalogKey: masterKey, version: masterVersion, edition } = template;
  return { id: own.id, own, directive: extension, masterResourceId, masterKey, masterVersion, edition };
}

export function findRepeatedVariant(queryable: Queryable, targetId: number) {
  return queryable.value<string | undefined>(sql`
    select max(resource_id) as id from discovery.crawl_extension where target_id = ${targetId} and directive -> 'variant' is not null
    group by master_resource_id, directive #>> '{variant,type}', directive #>> '{variant,id}' having count(*) > 1 limit 1`);
}
