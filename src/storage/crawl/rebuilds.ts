import type { Queryable, Transaction } from '../database.ts';

// Crawled catalogs that extend a master which has moved since: what lags behind, and the work that brings it in line.

/** The table of due work, and the channel that tells of new rows in it. */
export const rebuildTable = 'discovery.crawl_rebuild';
export const rebuildsChannel = 'crawl_rebuild';

export interface DueRebuild {
  master_key: number;
}

/** What extends the master's resources is to be assembled anew: one rebuild per master, however often it moves. */
export async function queueRebuild(tx: Transaction, masterKey: number): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into discovery.crawl_rebuild as rebuild (master_key, due_at)
     select $1, now() where exists (select from discovery.crawl_extension where master_key = $1)
     on conflict (master_key) do update set due_at = least(rebuild.due_at, now())`,
    [masterKey],
  );
  if (rowCount > 0) tx.hint(rebuildsChannel);
}

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

export async function findMaster(queryable: Queryable, masterKey: number): Promise<Master | undefined> {
  const { rows } = await queryable.query<Master>(
    `select version, networks from discovery.catalog as catalog
       join discovery.crawl_target on node = owner and catalog_id = catalog.id
     where key = $1 and source = 'node' and version is not null`,
    [masterKey],
  );
  return rows[0];
}

/** A catalog that extends a master. */
export interface Dependent {
  targetId: number;
  node: string;
  catalogId: string;
}

/** One with resources that were assembled with an older version of the master. */
export async function findLaggingCatalog(
  queryable: Queryable,
  masterKey: number,
  masterVersion: number,
): Promise<Dependent | undefined> {
  const { rows } = await queryable.query<Dependent>(
    `select target.id as "targetId", node, catalog_id as "catalogId"
     from (
       select target_id from discovery.crawl_extension where master_key = $1 and master_version < $2
       order by master_version, target_id limit 1
     ) as lagging
     join discovery.crawl_target as target on target.id = target_id`,
    [masterKey, masterVersion],
  );
  return rows[0];
}

export interface LaggingResource {
  id: string;
  own: string;
  directive: string;
  /** The template as it is now; null when the master has dropped it. */
  template: string | null;
}

/** In the order of the index, so that a batch costs the same however many dependents have been rebuilt, or wait. */
export async function findLaggingResources(
  queryable: Queryable,
  targetId: number,
  { masterKey, masterVersion, limit }: { masterKey: number; masterVersion: number; limit: number },
): Promise<LaggingResource[]> {
  const { rows } = await queryable.query<LaggingResource>(
    `select dependent.resource_id as id, own, directive, template.document::text as template
     from discovery.crawl_extension as dependent
       left join discovery.resource as template on template.id = master_resource_id and template.catalog_key = master_key
     where master_key = $2 and master_version < $3 and target_id = $1
     order by master_version, target_id limit $4`,
    [targetId, masterKey, masterVersion, limit],
  );
  return rows;
}

/** Resources are in line with this version of the master; those without a template keep what they inherited last. */
export async function noteRebuilt(
  tx: Transaction,
  targetId: number,
  resources: readonly { id: string; template: string | null }[],
  masterVersion: number,
): Promise<void> {
  await tx.query(
    `update discovery.crawl_extension
     set master_version = $2, inherited = coalesce(template::json, inherited)
     from unnest($3::text[], $4::text[]) as rebuilt (id, template)
     where target_id = $1 and resource_id = rebuilt.id`,
    [targetId, masterVersion, resources.map(({ id }) => id), resources.map(({ template }) => template)],
  );
}
