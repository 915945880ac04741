import type { ExtendingResource, HostedMaster } from '../../rules/self-hosted/extend.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { InheritedTable } from '../inherited.ts';

// The templates of MASTER catalogs, and the crawled resources that extend them (migrations/0005-discovery-sources.sql). A template is a resource
// of a MASTER catalog in the index, crawled or from a catalog service; what extends it is there in its assembled form, its own form is kept here.

export const inheritedTable: InheritedTable = {
  name: 'discovery.crawl_inherited',
  heir: 'target_id',
  heirs: { name: 'discovery.crawl_target', key: 'id' },
  extending: { name: 'discovery.crawl_extension', id: 'resource_id' },
  current: `select catalog_key as master_key, id as master_resource_id, digest as edition, octet_length(document::text) as bytes,
    document::text as template from discovery.resource`,
};

/** What a target inherits, and all targets of its node together. */
export async function sumInherited(queryable: Queryable, targetId: number) {
  const { rows } = await queryable.query<{ catalog: number; publisher: number }>(
    `select coalesce(sum(inherited_bytes) filter (where id = $1), 0)::bigint as catalog,
       coalesce(sum(inherited_bytes), 0)::bigint as publisher
     from discovery.crawl_target where node_id = (select node_id from discovery.crawl_target where id = $1)`,
    [targetId],
  );
  return rows[0] ?? { catalog: 0, publisher: 0 };
}

/** The master resources of these ids, without their content, crawled ones first. Their catalogs, and those that had some of them before, are held until the transaction ends. */
export async function holdTemplates(
  tx: Transaction,
  masterResourceIds: readonly string[],
  formerKeys: readonly number[],
): Promise<Map<string, HostedMaster[]>> {
  await tx.query(
    `select from discovery.catalog
     where type = 'MASTER' and key in (select catalog_key from discovery.resource where id = any ($1) union all select unnest($2::bigint[]))
     order by key for share`,
    [masterResourceIds, formerKeys],
  );
  // A statement of its own: it sees what was committed while the lock was waited for.
  const { rows } = await tx.query<HostedMaster>(
    `select resource.id, catalog.key as "catalogKey", coalesce(target.version, revision) as version, resource.digest as edition, octet_length(document::text) as bytes,
       owner, catalog.id as "catalogId", networks as "networkIds"
     from discovery.resource as resource join discovery.catalog as catalog on catalog.key = catalog_key
       left join discovery.crawl_target as target on source = 'node' and target.node = owner and target.catalog_id = catalog.id
     where resource.id = any ($1) and type = 'MASTER' and case when source = 'node' then shown else served end
     order by source <> 'node', catalog.key`,
    [masterResourceIds],
  );
  const templates = new Map<string, HostedMaster[]>();
  for (const master of rows) templates.set(master.id, [...(templates.get(master.id) ?? []), master]);
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
  await tx.query(
    'delete from discovery.crawl_extension where target_id = $1 and ($2::text[] is null or resource_id = any ($2))',
    [targetId, resourceIds ?? null],
  );
  for (let start = 0; start < extending.length; start += rowsAtOnce) {
    await tx.query(
      `insert into discovery.crawl_extension
         (target_id, resource_id, own, directive, master_resource_id, master_key, master_version, edition)
       select $1, id, own, directive, "masterResourceId", "masterKey", "masterVersion", edition
       from json_to_recordset($2::json) as extending (
         id text, own json, directive json, "masterResourceId" text, "masterKey" bigint, "masterVersion" bigint, edition bigint)`,
      [targetId, JSON.stringify(extending.slice(start, start + rowsAtOnce).map(rowOf))],
    );
  }
}

function rowOf({ own, extension, template }: ExtendingResource) {
  const { id: masterResourceId, catalogKey: masterKey, version: masterVersion, edition } = template;
  return { id: own.id, own, directive: extension, masterResourceId, masterKey, masterVersion, edition };
}

/** A resource whose variant another resource of the same catalog is, too. */
export function findRepeatedVariant(queryable: Queryable, targetId: number) {
  return queryable.value<string | undefined>(
    `select max(resource_id) as id from discovery.crawl_extension where target_id = $1 and directive -> 'variant' is not null
     group by master_resource_id, directive #>> '{variant,type}', directive #>> '{variant,id}' having count(*) > 1 limit 1`,
    [targetId],
  );
}
