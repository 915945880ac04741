import type { Queryable, Transaction } from '../database.ts';
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

/** Due nodes of these hosts, a limited number each. */
export function takeDueNodes(queryable: Queryable, hosts: readonly number[], limit: number) {
  return queryable.rows<NodeRow>(
    `select node.id, node, host_id, host, configured_url, manifest_url, manifest_etag, manifest_modified, next_update,
       digests_at, network_memberships, node.failures, stir
     from unnest($1::bigint[]) as wanted (id) join discovery.crawl_host as host using (id) cross join lateral (
       select * from discovery.crawl_node where host_id = host.id and due_at <= now() order by due_at limit $2
     ) as node
     order by node.due_at`,
    [hosts, limit],
  );
}

/** What the manifest and the record of a node say. */
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
  await tx.query(
    `update discovery.crawl_node
     set subscriber_id = $3, url = $4, network_memberships = $5, manifest_url = $6, manifest_etag = $7, manifest_modified = $8,
       next_update = $9, checked_at = now(), key_names = coalesce($11::jsonb, key_names),
       digests_at = coalesce($12, digests_at), failures = 0,
       due_at = ${dueUnlessStirred('$2', '$10')}
     where id = $1`,
    [
      ...[row.id, row.stir, read.subscriberId, read.url ?? null, read.networkMemberships],
      ...[read.manifest?.url ?? null, read.manifest?.etag ?? null, read.manifest?.modified ?? null],
      ...[read.nextUpdate ?? null, dueInMs, read.keyNames ? JSON.stringify([...read.keyNames]) : null],
      read.digestsAt ?? null,
    ],
  );
  return read.indexUrls === undefined ? [] : recordIndexUrls(tx, row, read.indexUrls);
}

/** What stirred a node meanwhile makes it due, unless nobody wants it any more. */
function dueUnlessStirred(stir: string, dueInMs: string): string {
  return `case when not (named or has_masters) then null when stir = ${stir} then ${dueIn(dueInMs)} else now() end`;
}

async function recordIndexUrls(tx: Transaction, { id, host_id: hostKey }: NodeRow, urls: readonly string[]) {
  await tx.query(
    `insert into discovery.crawl_index as known (node_id, host_id, url, due_at)
     select $1, $2, url, now() from unnest($3::text[]) as url
     on conflict (node_id, url) do update set listed = true, due_at = excluded.due_at where not known.listed`,
    [id, hostKey, urls],
  );
  return tx.column<string>(
    `update discovery.crawl_index set listed = false, due_at = null, etag = null, modified = null, served_digest = null
     where node_id = $1 and listed and url <> all ($2) returning url`,
    [id, urls],
  );
}

/** No entry in them counts any more, and a node may list others every day. */
export async function forgetUnlisted(tx: Transaction, nodeId: number): Promise<void> {
  await tx.query('delete from discovery.crawl_index where node_id = $1 and not listed', [nodeId]);
}

/** A node could not be read: it is tried again. Without failures: it hosts nothing. */
export async function postponeNode(
  tx: Transaction,
  lease: HostLease,
  row: NodeRow,
  { failures, dueInMs }: { failures: number; dueInMs: number },
): Promise<void> {
  await holdLease(tx, lease);
  await tx.query(
    `update discovery.crawl_node set failures = $4, checked_at = now(),
       due_at = ${dueUnlessStirred('$2', '$3')}
     where id = $1`,
    [row.id, row.stir, dueInMs, failures],
  );
}

/** The node is served by another host now: all its work goes there. */
export async function moveNode(tx: Transaction, lease: HostLease, row: NodeRow, host: string): Promise<void> {
  await holdLease(tx, lease);
  const hostKey = await hostId(tx, host);
  await tx.query('update discovery.crawl_node set host_id = $2 where id = $1', [row.id, hostKey]);
  await tx.query('update discovery.crawl_index set host_id = $2 where node_id = $1', [row.id, hostKey]);
  await tx.query('update discovery.crawl_target set host_id = $2 where node_id = $1', [row.id, hostKey]);
  await wakeHosts(tx, [hostKey]);
}

/** Reads manifest and record of a node again after something did not verify, but not all the time. Comes first in its transaction: locks go from nodes to indexes to targets. */
export async function recheckNode(tx: Transaction, nodeId: number, spacingMs: number): Promise<void> {
  await tx.query(
    `update discovery.crawl_node set stir = stir + 1, due_at = least(due_at, ${spacedFromCheck('$2')}) where id = $1`,
    [nodeId, spacingMs],
  );
}

/** Now, but at least this many milliseconds after the last look. A clock that was set back must not make the wait longer. */
export function spacedFromCheck(ms: string): string {
  return `greatest(now(), least(checked_at, now()) + ${ms} * interval '1 millisecond')`;
}

/** Adds to what was fetched of nodes today. */
export async function countFetched(
  tx: Transaction,
  fetched: readonly { nodeId: number; bytes: number }[],
  now: Date,
): Promise<void> {
  if (fetched.length === 0) return;
  await tx.query(
    `update discovery.crawl_node as node
     set fetched_bytes = case when fetched_on = $3::date then fetched_bytes else 0 end + bytes, fetched_on = $3::date
     from unnest($1::bigint[], $2::bigint[]) as fetched (node_id, bytes) where node.id = node_id`,
    [fetched.map(({ nodeId }) => nodeId), fetched.map(({ bytes }) => bytes), dayOf(now)],
  );
}

/** The part of a select list that tells how much was fetched of a node on the day that is parameter `day`. */
export function fetchedToday(alias: string, day: string): string {
  return `case when ${alias}.fetched_on = ${day}::date then ${alias}.fetched_bytes else 0 end as fetched_today`;
}

export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}
