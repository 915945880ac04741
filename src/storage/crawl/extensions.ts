import type { Resource } from '../../protocol/catalog.ts';
import type { StoredExtension } from '../../rules/extends.ts';
import type { ExtendedResource, HostedMaster } from '../../rules/self-hosted/extend.ts';
import type { Queryable, Transaction } from '../database.ts';

// The templates of crawled MASTER catalogs, and the crawled resources that extend them (migrations/0007-crawl.sql). A template is a resource
// of a MASTER catalog in the index; what extends it is there in its assembled form, its own form is kept here.

/**
 * The master resources of these ids, in the order in which their catalogs came, and held as they are until the transaction ends. So are the
 * catalogs that had some of them before: they may have them again.
 */
export async function holdTemplates(
  tx: Transaction,
  masterResourceIds: readonly string[],
  formerKeys: readonly number[],
): Promise<Map<string, HostedMaster[]>> {
  await tx.query(
    `select from discovery.catalog
     where source = 'node' and type = 'MASTER'
       and key in (select catalog_key from discovery.resource where id = any ($1) union all select unnest($2::bigint[]))
     order by key for share`,
    [masterResourceIds, formerKeys],
  );
  // A statement of its own: it sees what was committed while the lock was waited for.
  const { rows } = await tx.query<Omit<HostedMaster, 'resource'> & { id: string; document: string }>(
    `select resource.id, catalog.key as "catalogKey", owner, catalog.id as "catalogId", networks as "networkIds", target.version,
       document::text as document
     from discovery.resource as resource join discovery.catalog as catalog on catalog.key = catalog_key
       join discovery.crawl_target as target on target.node = owner and target.catalog_id = catalog.id and shown
     where resource.id = any ($1) and source = 'node' and type = 'MASTER' order by catalog.key`,
    [masterResourceIds],
  );
  const templates = new Map<string, HostedMaster[]>();
  for (const { id, document, ...master } of rows) {
    templates.set(id, [...(templates.get(id) ?? []), { ...master, resource: JSON.parse(document) }]);
  }
  return templates;
}

/** What these resources of a target extend so far. */
export async function findExtensions(
  queryable: Queryable,
  targetId: number,
  resourceIds: readonly string[],
): Promise<Map<string, StoredExtension>> {
  const { rows } = await queryable.query<ExtensionRow>(
    `select resource_id as id, directive, master_key as "masterKey", master_version as "masterVersion", inherited
     from discovery.crawl_extension where target_id = $1 and resource_id = any ($2)`,
    [targetId, resourceIds],
  );
  return new Map(rows.map((row) => [row.id, storedExtension(row)]));
}

interface ExtensionRow {
  id: string;
  directive: string;
  masterKey: number;
  masterVersion: number;
  inherited: string;
}

function storedExtension({ directive, masterKey, masterVersion, inherited }: ExtensionRow): StoredExtension {
  const resource: Resource = JSON.parse(inherited);
  return {
    extension: JSON.parse(directive),
    template: { catalogKey: masterKey, version: masterVersion, resource },
  };
}

const rowsAtOnce = 500;

/** @param resourceIds those that are written or removed; undefined for all of the target */
export async function writeExtensions(
  tx: Transaction,
  targetId: number,
  resourceIds: readonly string[] | undefined,
  extended: readonly ExtendedResource[],
): Promise<void> {
  await tx.query(
    'delete from discovery.crawl_extension where target_id = $1 and ($2::text[] is null or resource_id = any ($2))',
    [targetId, resourceIds ?? null],
  );
  for (let start = 0; start < extended.length; start += rowsAtOnce) {
    await tx.query(
      `insert into discovery.crawl_extension
         (target_id, resource_id, own, directive, master_resource_id, master_key, master_version, inherited)
       select $1, id, own, directive, "masterResourceId", "masterKey", "masterVersion", inherited
       from json_to_recordset($2::json) as extended (
         id text, own json, directive json, "masterResourceId" text, "masterKey" bigint, "masterVersion" bigint, inherited json)`,
      [targetId, JSON.stringify(extended.slice(start, start + rowsAtOnce).map(rowOf))],
    );
  }
}

function rowOf({ own, extension, template }: ExtendedResource) {
  return {
    ...{ id: own.id, own, directive: extension, masterResourceId: extension.extends.masterResourceId },
    ...{ masterKey: template.catalogKey, masterVersion: template.version, inherited: template.resource },
  };
}

/** A resource whose variant another resource of the same catalog is, too. */
export async function findRepeatedVariant(
  queryable: Queryable,
  targetId: number,
): Promise<string | undefined> {
  const { rows } = await queryable.query<{ id: string }>(
    `select max(resource_id) as id from discovery.crawl_extension where target_id = $1 and directive -> 'variant' is not null
     group by master_resource_id, directive #>> '{variant,type}', directive #>> '{variant,id}' having count(*) > 1 limit 1`,
    [targetId],
  );
  return rows[0]?.id;
}
