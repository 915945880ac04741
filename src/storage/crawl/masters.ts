import type { Database, Queryable, Transaction } from '../database.ts';
import { sql } from '../sql.ts';
import { waitForLock } from '../wait-for-lock.ts';
import { type HostLease, makeHosts, wakeHosts } from './hosts.ts';
import { spacedFromCheck } from './nodes.ts';
import { rebuildTable } from './rebuilds.ts';
import { type ChangedCatalog, type NamedNode, rouseNodes, sourceTable } from './sources.ts';

// The locations of MASTER catalogs that crawled ones extend: entries in the verified indexes of crawled nodes, catalogs from catalog services, and
// nodes and networks that are read only for their masters.

/** A MASTER catalog that can be extended: its content is here or will arrive. */
export interface MasterEntry {
  /** The crawled node; 0 for a catalog from a catalog service. */
  nodeId: number;
  node: string;
  catalogId: string;
  networkIds: string[];
  isHere: boolean;
}

/** Complete masters come first, and among them crawled ones. */
export function findMasterEntries(queryable: Queryable, catalogIds: readonly string[]) {
  return queryable.rows<MasterEntry>(sql`
    select target.node_id as "nodeId", node, target.catalog_id as "catalogId", shown as "isHere", 0 as place, target.id, array(
      select json_array_elements_text(
        case when json_typeof(document -> 'networkIds') = 'array' then document -> 'networkIds' else '[]' end)
    ) as "networkIds"
    from discovery.crawl_target as target join discovery.crawl_entry as entry using (index_id, catalog_id)
    where target.catalog_id = any (${catalogIds}) and target.is_master
      and (shown or version is null and retired_at is null and relevant and named)
    union all
    select 0, owner, id, true, 1, key, networks from discovery.catalog
    where id = any (${catalogIds}) and type = 'MASTER' and source <> 'node' and served
    order by "isHere" desc, place, id`);
}

/** The crawled nodes whose own index is at one of these addresses, as far as known. */
export function findIndexOwners(queryable: Queryable, urls: readonly string[]) {
  return queryable.rows<{ url: string; nodeId: number }>(sql`
    select item.url, node_id as "nodeId" from discovery.crawl_index as item join discovery.crawl_node as node on node.id = node_id
    where item.url = any (${urls}) and listed and read_at is not null and (named or has_masters)`);
}

/**
 * A MASTER catalog has arrived. Catalogs that wait for it or its resources become due. If it has changed, resources that extend it are assembled
 * again. Waiting catalogs are searched under a lock that is kept until the end of the transaction. A catalog that has noted what it waits for lets
 * all holders of the lock finish and checks again: so either they have brought the master, or they find the note.
 *
 * @param lease on the host whose work brought it, which then needs no waking
 */
export async function announceMaster(
  tx: Transaction,
  { key, names, isChanged }: { key: number; names: readonly string[]; isChanged: boolean },
  lease?: HostLease,
): Promise<void> {
  if (isChanged) await queueRebuild(tx, key);
  await waitForLock(tx, arrivals);
  const hosts = await tx.column<number>(sql`update discovery.crawl_target set due_at = now(), stir = stir + 1
    where id in (
      select id from discovery.crawl_target
      where waiting_for is not null and waiting_for && ${names} and named and index_id is not null order by id for no key update
    )
    returning host_id`);
  // The holder of a host looks for due work there before it gives it back.
  const others = hosts.filter((id) => id !== lease?.id);
  await wakeHosts(tx, others);
}

/** One rebuild per master, however often it changes. */
async function queueRebuild(tx: Transaction, key: number): Promise<void> {
  await tx.query(sql`update discovery.catalog set revision = revision + 1 where key = ${key}`);
  const queued = await tx.count(sql`insert into discovery.crawl_rebuild as rebuild (master_key, due_at)
    select ${key}, now() where exists (select from discovery.crawl_extension where master_key = ${key}) or exists (
      select from discovery.catalog join discovery.crawl_lost_master using (owner, id) where catalog.key = ${key}
    )
    on conflict (master_key) do update set due_at = least(rebuild.due_at, now())`);
  if (queued > 0) tx.hint(rebuildTable);
}

export async function letArrivalsPass(database: Database): Promise<void> {
  await database.transaction((tx) => waitForLock(tx, arrivals, { isShared: true }));
}

const arrivals = 'arrivals of crawled masters';

export function isAnyMasterHere(queryable: Queryable, names: readonly string[]) {
  return queryable.value<boolean>(sql`select exists (
      select from discovery.crawl_target where catalog_id = any (${names}) and is_master and shown
    ) or exists (
      select from discovery.resource as resource join discovery.catalog as catalog on catalog.key = catalog_key
      where resource.id = any (${names}) and type = 'MASTER'
    ) as here`);
}

/** Crawls these nodes for their MASTER catalogs. Returns the catalogs whose state may have changed. */
export async function wantMastersOf(tx: Transaction, nodes: readonly NamedNode[]): Promise<ChangedCatalog[]> {
  const hosts = nodes.map(({ host }) => host);
  await makeHosts(tx, hosts);
  const wanted = await tx.rows<{ id: number; hostId: number; isResting: boolean }>(sql`
    insert into discovery.crawl_node as known (node, host_id, named, has_masters, due_at)
    select node, host.id, false, true, now()
    from jsonb_to_recordset(${JSON.stringify(nodes)}) as wanted (node text, host text) join discovery.crawl_host as host using (host)
    order by node
    on conflict (node) do update set has_masters = true where not known.has_masters
    returning id, host_id as "hostId", xmax <> 0 and not named as "isResting"`);
  const hostIds = wanted.map(({ hostId }) => hostId);
  await wakeHosts(tx, hostIds);
  const resting = wanted.filter(({ isResting }) => isResting).map(({ id }) => id);
  return rouseNodes(tx, resting);
}

/** Its record lists an index that has not been read here: it is read soon, but not constantly. */
export async function recheckMastersOf(tx: Transaction, node: string, spacingMs: number): Promise<void> {
  const rows = await tx.rows<{ host_id: number; due_at: Date }>(sql`
    update discovery.crawl_node set stir = stir + 1, due_at = least(due_at, ${spacedFromCheck(spacingMs)})
    where node = ${node} returning host_id, due_at`);
  for (const { host_id: host, due_at: at } of rows) await wakeHosts(tx, [host], at);
}

export async function searchForMasters(tx: Transaction, networkIds: readonly string[]): Promise<void> {
  if (networkIds.length === 0) return;
  const added = await tx.count(sql`
    insert into discovery.crawl_source (kind, name, due_at) select 'masters', name, now() from unnest(${networkIds}::text[]) as name
    on conflict (kind, name) do nothing`);
  if (added > 0) tx.hint(sourceTable);
}
