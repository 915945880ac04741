import type { Template } from '../../rules/extends.ts';
import type { Queryable, Transaction } from '../database.ts';
import type { Inheriting } from '../inherited.ts';
import { sql } from '../sql.ts';

// Crawled catalogs that extend a master which has changed since: what lags behind, and the work that brings it in line.

export const rebuildTable = 'discovery.crawl_rebuild';

export async function holdMaster(tx: Transaction, masterKey: number): Promise<Master | undefined> {
  await tx.query(sql`select from discovery.catalog where key = ${masterKey} for share`);
  // A statement of its own: it sees what was committed while the lock was waited for.
  return findMaster(tx, masterKey);
}

export interface Master {
  version: number;
  networks: string[];
}

export function findMaster(queryable: Queryable, masterKey: number) {
  return queryable.first<Master>(sql`
    select coalesce(version, revision) as version, networks from discovery.catalog as catalog
      left join discovery.crawl_target on source = 'node' and node = owner and catalog_id = catalog.id
    where key = ${masterKey} and (source <> 'node' or version is not null)`);
}

export interface Dependent {
  targetId: number;
  node: string;
  catalogId: string;
}

/** One that extended a copy of the master which is gone, with the key of that copy. */
export function findLostDependent(queryable: Queryable, masterKey: number) {
  return queryable.first<Dependent & { lostKey: number }>(sql`
    select target.id as "targetId", node, catalog_id as "catalogId", lost.key as "lostKey"
    from discovery.catalog as master join discovery.crawl_lost_master as lost using (owner, id)
      cross join lateral (select target_id from discovery.crawl_extension where master_key = lost.key limit 1) as extending
      join discovery.crawl_target as target on target.id = target_id
    where master.key = ${masterKey} limit 1`);
}

/** The catalog extends the master from now on, and lags behind it. Wants its precedence locked: whoever writes its extensions has that. */
export async function adoptDependent(
  tx: Transaction,
  { targetId, lostKey }: { targetId: number; lostKey: number },
  masterKey: number,
): Promise<void> {
  await tx.query(sql`
    with moved as (delete from discovery.crawl_inherited where target_id = ${targetId} and master_key = ${lostKey} returning *)
    insert into discovery.crawl_inherited as kept (target_id, master_key, master_resource_id, edition, bytes, uses, template)
    select target_id, ${masterKey}, master_resource_id, edition, bytes, uses, template from moved
    on conflict (target_id, master_key, master_resource_id, edition) do update set uses = kept.uses + excluded.uses`);
  await tx.query(sql`update discovery.crawl_extension set master_key = ${masterKey}, master_version = -1
    where target_id = ${targetId} and master_key = ${lostKey}`);
  await tx.query(sql`delete from discovery.crawl_lost_master
    where key = ${lostKey} and not exists (select from discovery.crawl_extension where master_key = ${lostKey})`);
}

export function findLaggingCatalog(queryable: Queryable, masterKey: number, masterVersion: number) {
  return queryable.first<Dependent>(sql`select target.id as "targetId", node, catalog_id as "catalogId"
    from (
      select target_id from discovery.crawl_extension where master_key = ${masterKey} and master_version < ${masterVersion}
      order by master_version, target_id limit 1
    ) as lagging
    join discovery.crawl_target as target on target.id = target_id`);
}

/** In the order of the index, so that a batch costs the same however many dependents have been rebuilt, or wait. */
export function findLaggingResources(
  queryable: Queryable,
  targetId: number,
  { masterKey, masterVersion, limit }: { masterKey: number; masterVersion: number; limit: number },
) {
  return queryable.rows<Inheriting>(sql`
    select resource_id as id, master_resource_id as "masterResourceId", edition, coalesce(kept.bytes, 0) as bytes
    from discovery.crawl_extension
      left join discovery.crawl_inherited as kept using (target_id, master_key, master_resource_id, edition)
    where master_key = ${masterKey} and master_version < ${masterVersion} and target_id = ${targetId}
    order by master_version, target_id limit ${limit}`);
}

/** Templates of a master as they are now, by their ids; those that it has dropped are missing. */
export async function findTemplates(
  queryable: Queryable,
  { masterKey, masterVersion, ids }: { masterKey: number; masterVersion: number; ids: readonly string[] },
): Promise<Map<string, Template>> {
  const rows = await queryable.rows<Pick<Template, 'id' | 'edition' | 'bytes'>>(sql`
    select id, digest as edition, octet_length(document::text) as bytes from discovery.resource
    where catalog_key = ${masterKey} and id = any (${ids})`);
  return new Map(rows.map((row) => [row.id, { ...row, catalogKey: masterKey, version: masterVersion }]));
}

/** Resources are in line with this version of the master; those without another edition keep what they inherited last. */
export async function noteRebuilt(
  tx: Transaction,
  targetId: number,
  resources: readonly { id: string; edition?: number }[],
  masterVersion: number,
): Promise<void> {
  await tx.query(sql`update discovery.crawl_extension as extension
    set master_version = ${masterVersion}, edition = coalesce(rebuilt.edition, extension.edition)
    from jsonb_to_recordset(${JSON.stringify(resources)}) as rebuilt (id text, edition bigint)
    where target_id = ${targetId} and resource_id = rebuilt.id`);
}
