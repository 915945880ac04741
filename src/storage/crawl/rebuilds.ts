import type { Template } from '../../rules/extends.ts';
import type { Queryable, Transaction } from '../database.ts';

// Crawled catalogs that extend a master which has changed since: what lags behind, and the work that brings it in line.

/** The table of due work; hints on a channel of the same name tell of new rows in it. */
export const rebuildTable = 'discovery.crawl_rebuild';

/** The version of a master, held as it is until the transaction ends. */
export async function holdMaster(tx: Transaction, masterKey: number): Promise<Master | undefined> {
  await tx.query('select from discovery.catalog where key = $1 for share', [masterKey]);
  // A statement of its own: it sees what was committed while the lock was waited for.
  return findMaster(tx, masterKey);
}

export interface Master {
  version: number;
  networks: string[];
}

export function findMaster(queryable: Queryable, masterKey: number) {
  return queryable.first<Master>(
    `select coalesce(version, revision) as version, networks from discovery.catalog as catalog
       left join discovery.crawl_target on source = 'node' and node = owner and catalog_id = catalog.id
     where key = $1 and (source <> 'node' or version is not null)`,
    [masterKey],
  );
}

/** A catalog that extends a master. */
export interface Dependent {
  targetId: number;
  node: string;
  catalogId: string;
}

/** One that extended a copy of the master which is gone, with the key of that copy. */
export function findLostDependent(queryable: Queryable, masterKey: number) {
  return queryable.first<Dependent & { lostKey: number }>(
    `select target.id as "targetId", node, catalog_id as "catalogId", lost.key as "lostKey"
     from discovery.catalog as master join discovery.crawl_lost_master as lost using (owner, id)
       cross join lateral (select target_id from discovery.crawl_extension where master_key = lost.key limit 1) as extending
       join discovery.crawl_target as target on target.id = target_id
     where master.key = $1 limit 1`,
    [masterKey],
  );
}

/** The catalog extends the master from now on, and lags behind it. Wants its precedence locked: whoever writes its extensions has that. */
export async function adoptDependent(
  tx: Transaction,
  { targetId, lostKey }: { targetId: number; lostKey: number },
  masterKey: number,
): Promise<void> {
  await tx.query(
    `with moved as (delete from discovery.crawl_inherited where target_id = $1 and master_key = $2 returning *)
     insert into discovery.crawl_inherited as kept (target_id, master_key, master_resource_id, edition, bytes, uses, template)
     select target_id, $3, master_resource_id, edition, bytes, uses, template from moved
     on conflict (target_id, master_key, master_resource_id, edition) do update set uses = kept.uses + excluded.uses`,
    [targetId, lostKey, masterKey],
  );
  await tx.query(
    'update discovery.crawl_extension set master_key = $3, master_version = -1 where target_id = $1 and master_key = $2',
    [targetId, lostKey, masterKey],
  );
  await tx.query(
    `delete from discovery.crawl_lost_master
     where key = $1 and not exists (select from discovery.crawl_extension where master_key = $1)`,
    [lostKey],
  );
}

/** One with resources that were assembled with an older version of the master. */
export function findLaggingCatalog(queryable: Queryable, masterKey: number, masterVersion: number) {
  return queryable.first<Dependent>(
    `select target.id as "targetId", node, catalog_id as "catalogId"
     from (
       select target_id from discovery.crawl_extension where master_key = $1 and master_version < $2
       order by master_version, target_id limit 1
     ) as lagging
     join discovery.crawl_target as target on target.id = target_id`,
    [masterKey, masterVersion],
  );
}

export interface LaggingResource {
  id: string;
  masterResourceId: string;
  /** What it has inherited. */
  edition: number;
  bytes: number;
}

/** In the order of the index, so that a batch costs the same however many dependents have been rebuilt, or wait. */
export function findLaggingResources(
  queryable: Queryable,
  targetId: number,
  { masterKey, masterVersion, limit }: { masterKey: number; masterVersion: number; limit: number },
) {
  return queryable.rows<LaggingResource>(
    `select resource_id as id, master_resource_id as "masterResourceId", edition, coalesce(kept.bytes, 0) as bytes
     from discovery.crawl_extension
       left join discovery.crawl_inherited as kept using (target_id, master_key, master_resource_id, edition)
     where master_key = $2 and master_version < $3 and target_id = $1
     order by master_version, target_id limit $4`,
    [targetId, masterKey, masterVersion, limit],
  );
}

/** Templates of a master as they are now, by their ids; those that it has dropped are missing. */
export async function findTemplates(
  queryable: Queryable,
  { masterKey, masterVersion, ids }: { masterKey: number; masterVersion: number; ids: readonly string[] },
): Promise<Map<string, Template>> {
  const { rows } = await queryable.query<Pick<Template, 'id' | 'edition' | 'bytes'>>(
    `select id, digest as edition, octet_length(document::text) as bytes from discovery.resource
     where catalog_key = $1 and id = any ($2)`,
    [masterKey, ids],
  );
  return new Map(rows.map((row) => [row.id, { ...row, catalogKey: masterKey, version: masterVersion }]));
}

/** Resources are in line with this version of the master; those without another edition keep what they inherited last. */
export async function noteRebuilt(
  tx: Transaction,
  targetId: number,
  resources: readonly { id: string; edition?: number }[],
  masterVersion: number,
): Promise<void> {
  await tx.query(
    `update discovery.crawl_extension as extension
     set master_version = $2, edition = coalesce(rebuilt.edition, extension.edition)
     from unnest($3::text[], $4::bigint[]) as rebuilt (id, edition)
     where target_id = $1 and resource_id = rebuilt.id`,
    [targetId, masterVersion, resources.map(({ id }) => id), resources.map(({ edition }) => edition ?? null)],
  );
}
