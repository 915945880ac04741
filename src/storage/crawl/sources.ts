import type { Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { makeHosts, wakeHosts } from './hosts.ts';

// What the crawler reads: the sources of the settings, and the nodes that they name.

export const sourceTable = 'discovery.crawl_source';

export interface SourceRow {
  /** 'masters' is not one of the settings: a network that is searched for MASTER catalogs that others extend. */
  kind: 'network' | 'subscriber' | 'address' | 'masters';
  name: string;
  failures: number;
}

interface CrawlSettings {
  sources: readonly { kind: Exclude<SourceRow['kind'], 'masters'>; name: string }[];
  /** All settings that decide whether an entry is accepted, as a text. */
  policy: string;
  hideUnconfirmed: boolean;
}

/** Replaces the sources by those of the settings, all due. Nodes without a source are neither crawled nor served. Returns the catalogs whose state may have changed. */
export async function configureSources(tx: Transaction, { sources, policy, hideUnconfirmed }: CrawlSettings) {
  await tx.query('lock table discovery.crawl_source in share row exclusive mode');
  const [kinds, names] = [sources.map(({ kind }) => kind), sources.map(({ name }) => name)];
  await tx.query(sql`delete from discovery.crawl_source
    where (kind, name) not in (select * from unnest(${kinds}::text[], ${names}::text[]))
      and (kind <> 'masters' or ${sources.length === 0} or name = any (${names}))`);
  await forgetAddresses(tx);
  const forsaken = sources.length === 0 ? await forsakeMasters(tx) : [];
  await tx.query(sql`insert into discovery.crawl_source as known (kind, name, due_at)
    select kind, name, now() from unnest(${kinds}::text[], ${names}::text[]) as wanted (kind, name)
    on conflict (kind, name) do update set due_at = least(known.due_at, excluded.due_at)`);
  tx.hint(sourceTable);
  return [
    ...(await rouseNodes(tx, [...forsaken, ...(await nameAgain(tx))])),
    ...(await judgeAgain(tx, { policy, hideUnconfirmed })),
  ];
}

export interface ChangedCatalog {
  owner: string;
  id: string;
}

/** Any address is allowed while the operator configures it, and no longer. */
async function forgetAddresses(tx: Transaction): Promise<void> {
  await tx.query(sql`update discovery.crawl_node as node set configured_url = null
    where configured_url is not null and not exists (
      select from discovery.crawl_naming join discovery.crawl_source as source on source.id = source_id
      where node_id = node.id and kind = 'address' and name = configured_url
    )`);
}

/** A service that crawls nothing needs no masters. */
function forsakeMasters(tx: Transaction) {
  return tx.column<number>(sql`update discovery.crawl_node set has_masters = false where has_masters
    returning id`);
}

/** Updates whether a node is named; returns the changed ones. */
function nameAgain(tx: Transaction, nodes?: readonly string[]) {
  return tx.column<number>(sql`update discovery.crawl_node as node set named = not named
    where named <> exists (select from discovery.crawl_naming where node_id = node.id) and (${nodes}::text[] is null or node = any (${nodes}))
    returning id`);
}

/** Nodes that are no longer needed rest; those that are needed again are crawled again. */
export async function rouseNodes(tx: Transaction, ids: readonly number[]): Promise<ChangedCatalog[]> {
  if (ids.length === 0) return [];
  const hosts = await tx.column<number>(sql`
    update discovery.crawl_node set due_at = case when named or has_masters then now() end, stir = stir + 1
    where id = any (${ids}) returning host_id`);
  await tx.query(sql`update discovery.crawl_index as item
    set due_at = case when (named or has_masters) and listed then now() end, stir = item.stir + 1
    from discovery.crawl_node as node where node.id = node_id and node_id = any (${ids})`);
  const changed = await tx.rows<ChangedCatalog>(sql`
    update discovery.crawl_target as target set named = ${isWanted(sql`target`)}, stir = target.stir + 1,
      due_at = case when ${isWanted(sql`target`)} and index_id is not null and digest is distinct from settled_digest
        then now() end
    from discovery.crawl_node as node where node.id = node_id and node_id = any (${ids})
    returning target.node as owner, catalog_id as id`);
  await wakeHosts(tx, hosts);
  return changed;
}

/** Only the MASTER catalogs of unnamed nodes count. */
export function isWanted(catalog: Sql): Sql {
  return sql`(node.named or node.has_masters and ${catalog}.is_master)`;
}

/** Whether an entry is for us, and whether unconfirmed content is shown, are settings: when they change, every entry is processed again. */
async function judgeAgain(
  tx: Transaction,
  { policy, hideUnconfirmed }: Pick<CrawlSettings, 'policy' | 'hideUnconfirmed'>,
): Promise<ChangedCatalog[]> {
  const written = await tx.count(sql`
    insert into discovery.crawl_policy as known (policy) values (${policy})
    on conflict (only_row) do update set policy = excluded.policy where known.policy <> excluded.policy`);
  if (written === 0) return [];
  const changed = await tx.rows<ChangedCatalog & { hostId: number }>(sql`
    update discovery.crawl_target set hidden = ${hideUnconfirmed} and unconfirmed_since is not null, settled_digest = null, stir = stir + 1,
      due_at = case when named and index_id is not null then now() end
    returning node as owner, catalog_id as id, host_id as "hostId"`);
  const hostIds = changed.map(({ hostId }) => hostId);
  await wakeHosts(tx, hostIds);
  return changed;
}

export interface NamedNode {
  node: string;
  /** Host and port for requests of its manifest. */
  host: string;
  configuredUrl?: string;
}

/** Sets the nodes of a source: new nodes are due. Returns the nodes that it no longer names. */
export async function nameNodes(tx: Transaction, sourceId: number, nodes: readonly NamedNode[]) {
  const changed = await addNodes(tx, [sourceId], nodes);
  const vanished = await tx.column<string>(sql`update discovery.crawl_naming as naming set present = false
    from discovery.crawl_node as node
    where source_id = ${sourceId} and present and node.id = naming.node_id and node.node <> all (${nodes.map(({ node }) => node)})
    returning node.node`);
  return { vanished, changed };
}

export async function addNodes(tx: Transaction, sourceIds: readonly number[], nodes: readonly NamedNode[]) {
  const names = nodes.map(({ node }) => node);
  const hosts = nodes.map(({ host }) => host);
  const urls = nodes.map(({ configuredUrl }) => configuredUrl);
  await makeHosts(tx, hosts);
  const due = await tx.column<number>(sql`
    insert into discovery.crawl_node as known (node, host_id, configured_url, due_at)
    select node, host.id, configured_url, now()
    from unnest(${names}::text[], ${hosts}::text[], ${urls}::text[]) as wanted (node, host, configured_url)
      join discovery.crawl_host as host using (host) order by node
    on conflict (node) do update set configured_url = excluded.configured_url
    where excluded.configured_url is not null and known.configured_url is distinct from excluded.configured_url
    returning host_id`);
  await tx.query(sql`insert into discovery.crawl_naming as known (source_id, node_id, present)
    select source_id, id, true from unnest(${sourceIds}::bigint[]) as source_id cross join discovery.crawl_node where node = any (${names})
    on conflict (source_id, node_id) do update set present = true where not known.present`);
  const changed = await rouseNodes(tx, await nameAgain(tx, names));
  await wakeHosts(tx, due);
  return changed;
}
