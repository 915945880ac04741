import type { Transaction } from '../database.ts';
import { makeHosts, wakeHosts } from './hosts.ts';

// Whom the crawler reads: the sources of the settings, and the nodes that they name.

export const sourceTable = 'discovery.crawl_source';

export interface SourceRow {
  /** 'masters' is not one of the settings: a network in which MASTER catalogs are looked for that others extend. */
  kind: 'network' | 'subscriber' | 'address' | 'masters';
  name: string;
  failures: number;
}

/** What the settings say about crawling. */
export interface CrawlSettings {
  sources: readonly { kind: Exclude<SourceRow['kind'], 'masters'>; name: string }[];
  /** All that decides whether an entry is taken, as a text. */
  policy: string;
  hideUnconfirmed: boolean;
}

/** Makes the sources those of the settings, all due. Nodes that no source names any more are neither crawled nor served. Returns the catalogs whose state may have changed. */
export async function configureSources(
  tx: Transaction,
  { sources, policy, hideUnconfirmed }: CrawlSettings,
): Promise<ChangedCatalog[]> {
  await tx.query('lock table discovery.crawl_source in share row exclusive mode');
  const [kinds, names] = [sources.map(({ kind }) => kind), sources.map(({ name }) => name)];
  await tx.query(
    `delete from discovery.crawl_source
     where (kind, name) not in (select * from unnest($1::text[], $2::text[])) and (kind <> 'masters' or $3 or name = any ($2))`,
    [kinds, names, sources.length === 0],
  );
  await forgetAddresses(tx);
  const forsaken = sources.length === 0 ? await forsakeMasters(tx) : [];
  await tx.query(
    `insert into discovery.crawl_source as known (kind, name, due_at)
     select kind, name, now() from unnest($1::text[], $2::text[]) as wanted (kind, name)
     on conflict (kind, name) do update set due_at = least(known.due_at, excluded.due_at)`,
    [kinds, names],
  );
  tx.hint(sourceTable);
  return [
    ...(await rouseNodes(tx, [...forsaken, ...(await nameAgain(tx))])),
    ...(await judgeAgain(tx, { policy, hideUnconfirmed })),
  ];
}

/** One whose state may be another one now. */
export interface ChangedCatalog {
  owner: string;
  id: string;
}

/** An address is called whatever it is because the operator wrote it: no longer than that. */
async function forgetAddresses(tx: Transaction): Promise<void> {
  await tx.query(
    `update discovery.crawl_node as node set configured_url = null
     where configured_url is not null and not exists (
       select from discovery.crawl_naming join discovery.crawl_source as source on source.id = source_id
       where node_id = node.id and kind = 'address' and name = configured_url
     )`,
  );
}

/** Who crawls nobody needs no masters. */
function forsakeMasters(tx: Transaction) {
  return tx.column<number>(
    'update discovery.crawl_node set has_masters = false where has_masters returning id',
  );
}

/** Brings in line whether a node is named; returns those for which that has changed. */
function nameAgain(tx: Transaction, nodes?: readonly string[]) {
  return tx.column<number>(
    `update discovery.crawl_node as node set named = not named
     where named <> exists (select from discovery.crawl_naming where node_id = node.id) and ($1::text[] is null or node = any ($1))
     returning id`,
    [nodes ?? null],
  );
}

/** Nodes that nobody needs any more rest; those that somebody needs again are crawled again. */
export async function rouseNodes(tx: Transaction, ids: readonly number[]): Promise<ChangedCatalog[]> {
  if (ids.length === 0) return [];
  const hosts = await tx.column<number>(
    `update discovery.crawl_node set due_at = case when named or has_masters then now() end, stir = stir + 1
     where id = any ($1) returning host_id`,
    [ids],
  );
  await tx.query(
    `update discovery.crawl_index as item
     set due_at = case when (named or has_masters) and listed then now() end, stir = item.stir + 1
     from discovery.crawl_node as node where node.id = node_id and node_id = any ($1)`,
    [ids],
  );
  const changed = await tx.rows<ChangedCatalog>(
    `update discovery.crawl_target as target set named = ${isWanted('target', 'node')}, stir = target.stir + 1,
       due_at = case when ${isWanted('target', 'node')} and index_id is not null and digest is distinct from settled_digest
         then now() end
     from discovery.crawl_node as node where node.id = node_id and node_id = any ($1)
     returning target.node as owner, catalog_id as id`,
    [ids],
  );
  await wakeHosts(tx, hosts);
  return changed;
}

/** Of nodes that nobody names, the MASTER catalogs count alone. */
export function isWanted(catalog: string, node: string): string {
  return `(${node}.named or ${node}.has_masters and ${catalog}.is_master)`;
}

/** Whether an entry is for us, and whether the unconfirmed is shown, are settings: when they change, every entry is looked at once more. */
async function judgeAgain(
  tx: Transaction,
  { policy, hideUnconfirmed }: Pick<CrawlSettings, 'policy' | 'hideUnconfirmed'>,
): Promise<ChangedCatalog[]> {
  const { rowCount } = await tx.query(
    `insert into discovery.crawl_policy as known (policy) values ($1)
     on conflict (only_row) do update set policy = excluded.policy where known.policy <> excluded.policy`,
    [policy],
  );
  if (rowCount === 0) return [];
  const changed = await tx.rows<ChangedCatalog & { hostId: number }>(
    `update discovery.crawl_target set hidden = $1 and unconfirmed_since is not null, settled_digest = null, stir = stir + 1,
       due_at = case when named and index_id is not null then now() end
     returning node as owner, catalog_id as id, host_id as "hostId"`,
    [hideUnconfirmed],
  );
  const hosts = changed.map(({ hostId }) => hostId);
  await wakeHosts(tx, hosts);
  return changed;
}

export interface NamedNode {
  node: string;
  /** Host and port that its manifest is asked for at. */
  host: string;
  configuredUrl?: string;
}

/** What a source names now: nodes that are new are due. Returns those that it named before and does not now. */
export async function nameNodes(tx: Transaction, sourceId: number, nodes: readonly NamedNode[]) {
  const changed = await addNodes(tx, [sourceId], nodes);
  const vanished = await tx.column<string>(
    `update discovery.crawl_naming as naming set present = false
     from discovery.crawl_node as node
     where source_id = $1 and present and node.id = naming.node_id and node.node <> all ($2)
     returning node.node`,
    [sourceId, nodes.map(({ node }) => node)],
  );
  return { vanished, changed };
}

/** These sources name these nodes, beside those that they named before. */
export async function addNodes(tx: Transaction, sourceIds: readonly number[], nodes: readonly NamedNode[]) {
  const names = nodes.map(({ node }) => node);
  const hosts = nodes.map(({ host }) => host);
  await makeHosts(tx, hosts);
  const due = await tx.column<number>(
    `insert into discovery.crawl_node as known (node, host_id, configured_url, due_at)
     select node, host.id, configured_url, now()
     from unnest($1::text[], $2::text[], $3::text[]) as wanted (node, host, configured_url) join discovery.crawl_host as host using (host)
     order by node
     on conflict (node) do update set configured_url = excluded.configured_url
     where excluded.configured_url is not null and known.configured_url is distinct from excluded.configured_url
     returning host_id`,
    [names, hosts, nodes.map(({ configuredUrl }) => configuredUrl)],
  );
  await tx.query(
    `insert into discovery.crawl_naming as known (source_id, node_id, present)
     select source_id, id, true from unnest($1::bigint[]) as source_id cross join discovery.crawl_node where node = any ($2)
     on conflict (source_id, node_id) do update set present = true where not known.present`,
    [sourceIds, names],
  );
  const changed = await rouseNodes(tx, await nameAgain(tx, names));
  await wakeHosts(tx, due);
  return changed;
}
