import { type HostLease, holdLease, hostId, wakeHosts } from './crawl-hosts.ts';
import type { Queryable, Transaction } from './database.ts';

// The nodes that are crawled, and who names them.

export const sourceTable = 'discovery.crawl_source';

export interface SourceRow {
  kind: 'network' | 'subscriber' | 'address';
  name: string;
  failures: number;
}

/** What the settings say about crawling. */
export interface CrawlSettings {
  sources: readonly Pick<SourceRow, 'kind' | 'name'>[];
  /** All that decides whether an entry is taken, as a text. */
  policy: string;
  hideUnconfirmed: boolean;
}

/**
 * Makes the sources those of the settings, all of them due. What no source names any more is not crawled, and not served. Returns the
 * catalogs whose state may be another one now.
 */
export async function configureSources(
  tx: Transaction,
  { sources, policy, hideUnconfirmed }: CrawlSettings,
  now: Date,
): Promise<{ owner: string; id: string }[]> {
  await tx.query('lock table discovery.crawl_source in share row exclusive mode');
  const [kinds, names] = [sources.map(({ kind }) => kind), sources.map(({ name }) => name)];
  await tx.query(
    'delete from discovery.crawl_source where (kind, name) not in (select * from unnest($1::text[], $2::text[]))',
    [kinds, names],
  );
  await tx.query(
    `insert into discovery.crawl_source as known (kind, name, due_at)
     select kind, name, $3 from unnest($1::text[], $2::text[]) as wanted (kind, name)
     on conflict (kind, name) do update set due_at = least(known.due_at, excluded.due_at)`,
    [kinds, names, now],
  );
  tx.hint(sourceTable);
  const changed = [
    ...(await nameAgain(tx, now)),
    ...(await judgeAgain(tx, { policy, hideUnconfirmed }, now)),
  ];
  return changed.map(({ node: owner, catalog_id: id }) => ({ owner, id }));
}

interface ChangedTarget {
  node: string;
  catalog_id: string;
  host_id: number;
}

/** Nodes that nobody names any more rest; those that somebody names again are crawled again. */
async function nameAgain(tx: Transaction, now: Date): Promise<ChangedTarget[]> {
  const { rows: nodes } = await tx.query<{ id: number; host_id: number }>(
    `update discovery.crawl_node as node set named = not named, due_at = case when named then null else $1::timestamptz end
     where named <> exists (select from discovery.crawl_naming where node_id = node.id) returning id, host_id`,
    [now],
  );
  const ids = nodes.map(({ id }) => id);
  await tx.query(
    `update discovery.crawl_index as item set due_at = case when named and listed then $2::timestamptz end
     from discovery.crawl_node as node where node.id = node_id and node_id = any ($1)`,
    [ids, now],
  );
  const { rows } = await tx.query<ChangedTarget>(
    `update discovery.crawl_target as target set named = node.named,
       due_at = case when node.named and index_id is not null and digest is distinct from settled_digest then $2::timestamptz end
     from discovery.crawl_node as node where node.id = node_id and node_id = any ($1)
     returning target.node, catalog_id, target.host_id`,
    [ids, now],
  );
  await wakeHosts(tx, [...new Set(nodes.map(({ host_id: id }) => id))], now);
  return rows;
}

/** Whether an entry is for us, and whether the unconfirmed is shown, are settings: when they change, every entry is looked at once more. */
async function judgeAgain(
  tx: Transaction,
  { policy, hideUnconfirmed }: Pick<CrawlSettings, 'policy' | 'hideUnconfirmed'>,
  now: Date,
): Promise<ChangedTarget[]> {
  const { rowCount } = await tx.query(
    `insert into discovery.crawl_policy as known (policy) values ($1)
     on conflict (only_row) do update set policy = excluded.policy where known.policy <> excluded.policy`,
    [policy],
  );
  if (rowCount === 0) return [];
  const { rows } = await tx.query<ChangedTarget>(
    `update discovery.crawl_target set hidden = $2 and unconfirmed_since is not null, settled_digest = null, stir = stir + 1,
       due_at = case when named and index_id is not null then $1::timestamptz end
     returning node, catalog_id, host_id`,
    [now, hideUnconfirmed],
  );
  await wakeHosts(tx, [...new Set(rows.map(({ host_id: id }) => id))], now);
  return rows;
}

export interface NamedNode {
  node: string;
  /** Host and port that its manifest is asked for at. */
  host: string;
  configuredUrl?: string;
}

/** What a source names now. Nodes that are new are due; those that it named before and does not now are returned. */
export async function nameNodes(
  tx: Transaction,
  sourceId: number,
  nodes: readonly NamedNode[],
  now: Date,
): Promise<string[]> {
  const woken = new Set<number>();
  for (const { node, host, configuredUrl } of nodes) {
    const hostKey = await hostId(tx, host);
    const { rows } = await tx.query<{ id: number; host_id: number; is_new: boolean }>(
      `insert into discovery.crawl_node as known (node, host_id, configured_url, due_at) values ($1, $2, $3, $4)
       on conflict (node) do update set configured_url = coalesce(excluded.configured_url, known.configured_url),
         named = true, due_at = case when known.named then known.due_at else excluded.due_at end
       returning id, host_id, due_at = $4 as is_new`,
      [node, hostKey, configuredUrl ?? null, now],
    );
    const [row] = rows;
    if (row === undefined) continue;
    if (row.is_new) woken.add(row.host_id);
    await tx.query(
      `insert into discovery.crawl_naming (source_id, node_id, present) values ($1, $2, true)
       on conflict (source_id, node_id) do update set present = true where not crawl_naming.present`,
      [sourceId, row.id],
    );
  }
  const { rows: vanished } = await tx.query<{ node: string }>(
    `update discovery.crawl_naming as naming set present = false
     from discovery.crawl_node as node
     where source_id = $1 and present and node.id = naming.node_id and node.node <> all ($2)
     returning node.node`,
    [sourceId, nodes.map(({ node }) => node)],
  );
  await wakeHosts(tx, [...woken], now);
  return vanished.map(({ node }) => node);
}

export interface NodeRow {
  id: number;
  node: string;
  host_id: number;
  host: string;
  configured_url: string | null;
  manifest_url: string | null;
  manifest_etag: string | null;
  manifest_modified: string | null;
  next_update: Date | null;
  failures: number;
  stir: number;
}

export async function takeDueNodes(queryable: Queryable, host: number, limit: number): Promise<NodeRow[]> {
  const { rows } = await queryable.query<NodeRow>(
    `select node.id, node, host_id, host, configured_url, manifest_url, manifest_etag, manifest_modified, next_update, node.failures, stir
     from discovery.crawl_node as node join discovery.crawl_host as host on host.id = host_id
     where host_id = $1 and node.due_at <= now() order by node.due_at limit $2`,
    [host, limit],
  );
  return rows;
}

/** What the manifest and the record of a node say. */
export interface ReadNode {
  subscriberId: string;
  url?: string;
  networkMemberships: readonly string[];
  manifest?: { url: string; etag?: string; modified?: string };
  /** The earlier of the two next updates. */
  nextUpdate?: Date;
  /** Undefined: as it was. */
  indexUrls?: readonly string[];
}

/** Keeps what was read of a node; returns the indexes that are not listed any more. */
export async function recordNode(
  tx: Transaction,
  lease: HostLease,
  row: NodeRow,
  read: ReadNode,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<string[]> {
  await holdLease(tx, lease);
  await tx.query(
    `update discovery.crawl_node
     set subscriber_id = $3, url = $4, network_memberships = $5, manifest_url = $6, manifest_etag = $7, manifest_modified = $8,
       next_update = $9, checked_at = $10, failures = 0, due_at = case when stir = $2 then $11::timestamptz else now() end
     where id = $1`,
    [
      ...[row.id, row.stir, read.subscriberId, read.url ?? null, read.networkMemberships],
      ...[read.manifest?.url ?? null, read.manifest?.etag ?? null, read.manifest?.modified ?? null],
      ...[read.nextUpdate ?? null, now, dueAt],
    ],
  );
  return read.indexUrls === undefined ? [] : recordIndexUrls(tx, row, read.indexUrls, now);
}

async function recordIndexUrls(
  tx: Transaction,
  { id, host_id: hostKey }: NodeRow,
  urls: readonly string[],
  now: Date,
): Promise<string[]> {
  await tx.query(
    `insert into discovery.crawl_index as known (node_id, host_id, url, due_at)
     select $1, $2, url, $4 from unnest($3::text[]) as url
     on conflict (node_id, url) do update set listed = true, due_at = excluded.due_at where not known.listed`,
    [id, hostKey, urls, now],
  );
  const { rows } = await tx.query<{ url: string }>(
    `update discovery.crawl_index set listed = false, due_at = null, etag = null, modified = null
     where node_id = $1 and listed and url <> all ($2) returning url`,
    [id, urls],
  );
  return rows.map(({ url }) => url);
}

/** A node could not be read: it is tried again. */
export async function postponeNode(
  tx: Transaction,
  lease: HostLease,
  row: NodeRow,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<void> {
  await holdLease(tx, lease);
  await tx.query(
    `update discovery.crawl_node set failures = failures + 1, checked_at = $3,
       due_at = case when stir = $2 then $4::timestamptz else now() end
     where id = $1`,
    [row.id, row.stir, now, dueAt],
  );
}

/** The node is served by another host now: all its work goes there. */
export async function moveNode(
  tx: Transaction,
  lease: HostLease,
  row: NodeRow,
  host: string,
  now: Date,
): Promise<void> {
  await holdLease(tx, lease);
  const hostKey = await hostId(tx, host);
  await tx.query('update discovery.crawl_node set host_id = $2 where id = $1', [row.id, hostKey]);
  await tx.query('update discovery.crawl_index set host_id = $2 where node_id = $1', [row.id, hostKey]);
  await tx.query('update discovery.crawl_target set host_id = $2 where node_id = $1', [row.id, hostKey]);
  await wakeHosts(tx, [hostKey], now);
}

/** Something of the node did not verify: its manifest and record are read again, but not all the time. */
export async function recheckNode(
  tx: Transaction,
  nodeId: number,
  now: Date,
  spacingMs: number,
): Promise<void> {
  await tx.query(
    `update discovery.crawl_node set stir = stir + 1,
       due_at = least(due_at, greatest($2::timestamptz, checked_at + $3 * interval '1 millisecond'))
     where id = $1`,
    [nodeId, now, spacingMs],
  );
}

/** Adds to what was fetched of a node today. */
export async function countFetched(tx: Transaction, nodeId: number, bytes: number, now: Date): Promise<void> {
  if (bytes === 0) return;
  await tx.query(
    `update discovery.crawl_node
     set fetched_bytes = case when fetched_on = $3::date then fetched_bytes else 0 end + $2, fetched_on = $3::date
     where id = $1`,
    [nodeId, bytes, dayOf(now)],
  );
}

/** The part of a select list that tells how much was fetched of a node on the day that is parameter `day`. */
export function fetchedToday(alias: string, day: string): string {
  return `case when ${alias}.fetched_on = ${day}::date then ${alias}.fetched_bytes else 0 end as fetched_today`;
}

export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}
