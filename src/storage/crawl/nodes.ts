import type { Queryable, Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { dueIn } from '../work/leases.ts';
import { type HostLease, holdLease, hostId, wakeHosts } from './hosts.ts';

// The nodes that are crawled: where they are, what was read of their manifests and records, and when they are looked at again.

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
  digests_at: Date | null;
  network_memberships: string[];
  failures: number;
  stir: number;
}

export function takeDueNodes(queryable: Queryable, hosts: readonly number[], limit: number) {
  return queryable.rows<NodeRow>(sql`
    select node.id, node, host_id, host, configured_url, manifest_url, manifest_etag, manifest_modified, next_update,
      digests_at, network_memberships, node.failures, stir
    from unnest(${hosts}::bigint[]) as wanted (id) join discovery.crawl_host as host using (id) cross join lateral (
      select * from discovery.crawl_node where host_id = host.id and due_at <= now() order by due_at limit ${limit}
    ) as node
    order by node.due_at`);
}

export interface ReadNode {
  subscriberId: string;
  url?: string;
  networkMemberships: readonly string[];
  manifest?: { url: string; etag?: string; modified?: string };
  /** Names that its manifest gives to keys, with their record ids; undefined: as they were. */
  keyNames?: ReadonlyMap<string, string>;
  /** `updated_at` of its digests document; undefined: as it was. */
  digestsAt?: Date;
  /** The earliest of the next updates. */
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
  dueInMs: number,
): Promise<string[]> {
  await holdLease(tx, lease);
  const { manifest, keyNames, digestsAt, indexUrls } = read;
  await tx.query(sql`update discovery.crawl_node
    set subscriber_id = ${read.subscriberId}, url = ${read.url}, network_memberships = ${read.networkMemberships},
      manifest_url = ${manifest?.url}, manifest_etag = ${manifest?.etag}, manifest_modified = ${manifest?.modified},
      key_names = coalesce(${keyNames && JSON.stringify([...keyNames])}::jsonb, key_names), digests_at = coalesce(${digestsAt}, digests_at),
      next_update = ${read.nextUpdate}, checked_at = now(), failures = 0, due_at = ${dueUnlessStirred(row.stir, dueInMs)}
    where id = ${row.id}`);
  return indexUrls === undefined ? [] : recordIndexUrls(tx, row, indexUrls);
}

/** If something stirred a node meanwhile, it is due now, unless nobody wants it any more. */
function dueUnlessStirred(stir: number, dueInMs: number): Sql {
  return sql`case when not (named or has_masters) then null when stir = ${stir} then ${dueIn(dueInMs)} else now() end`;
}

async function recordIndexUrls(tx: Transaction, { id, host_id: hostKey }: NodeRow, urls: readonly string[]) {
  await tx.query(sql`insert into discovery.crawl_index as known (node_id, host_id, url, due_at)
    select ${id}, ${hostKey}, url, now() from unnest(${urls}::text[]) as url
    on conflict (node_id, url) do update set listed = true, due_at = excluded.due_at where not known.listed`);
  return tx.column<string>(sql`
    update discovery.crawl_index set listed = false, due_at = null, etag = null, modified = null, served_digest = null
    where node_id = ${id} and listed and url <> all (${urls}) returning url`);
}

/** No entry in them counts any more, and a node may list others every day. */
export async function forgetUnlisted(tx: Transaction, nodeId: number): Promise<void> {
  await tx.query(sql`delete from discovery.crawl_index where node_id = ${nodeId} and not listed`);
}

/** A node could not be read: it is tried again. Without failures: it hosts nothing. */
export async function postponeNode(
  tx: Transaction,
  lease: HostLease,
  row: NodeRow,
  { failures, dueInMs }: { failures: number; dueInMs: number },
): Promise<void> {
  await holdLease(tx, lease);
  await tx.query(sql`update discovery.crawl_node set failures = ${failures}, checked_at = now(),
      due_at = ${dueUnlessStirred(row.stir, dueInMs)}
    where id = ${row.id}`);
}

/** The node is served by another host now: all its work goes there. */
export async function moveNode(tx: Transaction, lease: HostLease, row: NodeRow, host: string): Promise<void> {
  await holdLease(tx, lease);
  const hostKey = await hostId(tx, host);
  await tx.query(sql`update discovery.crawl_node set host_id = ${hostKey} where id = ${row.id}`);
  for (const table of [sql`crawl_index`, sql`crawl_target`])
    await tx.query(sql`update discovery.${table} set host_id = ${hostKey} where node_id = ${row.id}`);
  await wakeHosts(tx, [hostKey]);
}

/** Reads manifest and record of a node again after something did not verify, but not all the time. Comes first in its transaction: locks go from nodes to indexes to targets. */
export async function recheckNode(tx: Transaction, nodeId: number, spacingMs: number): Promise<void> {
  await tx.query(sql`update discovery.crawl_node
    set stir = stir + 1, due_at = least(due_at, ${spacedFromCheck(spacingMs)}) where id = ${nodeId}`);
}

/** Now, but at least this many milliseconds after the last look. A clock that was set back must not make the wait longer. */
export function spacedFromCheck(ms: number): Sql {
  return sql`greatest(now(), least(checked_at, now()) + ${ms} * interval '1 millisecond')`;
}

export async function countFetched(
  tx: Transaction,
  fetched: readonly { nodeId: number; bytes: number }[],
  now: Date,
): Promise<void> {
  if (fetched.length === 0) return;
  await tx.query(sql`update discovery.crawl_node as node
    set fetched_bytes = case when fetched_on = ${dayOf(now)}::date then fetched_bytes else 0 end + bytes, fetched_on = ${dayOf(now)}::date
    from jsonb_to_recordset(${JSON.stringify(fetched)}) as fetched ("nodeId" bigint, bytes bigint) where node.id = "nodeId"`);
}

/** The part of a select list that tells how much was fetched of a node today. */
export function fetchedToday(now: Date): Sql {
  return sql`case when node.fetched_on = ${dayOf(now)}::date then node.fetched_bytes else 0 end as fetched_today`;
}

function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}
