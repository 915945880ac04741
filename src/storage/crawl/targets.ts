import type { Queryable, Transaction } from '../database.ts';
import { assign, type Sql, sql } from '../sql.ts';
import { dueIn } from '../work/leases.ts';
import { type HostLease, holdLease } from './hosts.ts';
import type { IndexRow } from './indexes.ts';
import { fetchedToday } from './nodes.ts';

// The catalogs of the crawled nodes: which entry counts, our progress, and the state of each.

export interface TargetRow
  extends Pick<
    IndexRow,
    'id' | 'node_id' | 'node' | 'subscriber_id' | 'key_names' | 'failures' | 'stir' | 'fetched_today'
  > {
  url: string | null;
  network_memberships: string[];
  catalog_id: string;
  is_master: boolean;
  index_url: string;
  /** The entry that counts, as received: JSON text. */
  document: string;
  digest: string;
  applied_entry_version: number | null;
  version: number | null;
  applied_master: boolean | null;
  entry_key: string | null;
  content_keys: string[];
  retired_at: Date | null;
  unverified_since: Date | null;
  waiting_for: string[] | null;
  /** Sum over all its resources (storage/inherited.ts). */
  inherited_bytes: number;
}

export async function findHostsWithTargets(queryable: Queryable, hosts: readonly number[]) {
  const found = await queryable.column<number>(sql`select id from unnest(${hosts}::bigint[]) as host (id)
    where exists (select from discovery.crawl_target where host_id = host.id and due_at <= now() and index_id is not null)`);
  return new Set(found);
}

/** Takes the due targets of a host, MASTER catalogs first: others may wait for them. */
export function takeDueTargets(queryable: Queryable, host: number, limit: number, now: Date) {
  return queryable.rows<TargetRow>(sql`
    select target.id, target.node_id, target.node, subscriber_id, key_names, node.url, network_memberships, target.catalog_id,
      target.is_master, item.url as index_url, entry.document, entry.digest, applied_entry_version, version,
      applied_master, entry_key, content_keys, retired_at, unverified_since, waiting_for, inherited_bytes, target.failures, target.stir,
      ${fetchedToday(now)}
    from (
      select * from discovery.crawl_target where host_id = ${host} and due_at <= now() and index_id is not null
      order by is_master desc, due_at limit ${limit}
    ) as target
    join discovery.crawl_node as node on node.id = target.node_id
    join discovery.crawl_index as item on item.id = target.index_id
    join discovery.crawl_entry as entry on entry.index_id = target.index_id and entry.catalog_id = target.catalog_id
    order by target.is_master desc, target.due_at`);
}

/** Changes of a target whose content was not applied. */
export interface TargetChanges {
  settled_digest?: string;
  applied_entry_version?: number;
  retired_at?: Date;
  relevant?: boolean;
  waiting_for?: readonly string[] | null;
  failures?: number;
  last_code?: string | null;
}

/** Writes the result for a target, under the lease; it stays due if something stirred it meanwhile. */
export async function recordTarget(
  tx: Transaction,
  lease: HostLease,
  row: TargetRow,
  changes: TargetChanges,
  dueInMs: number | null,
): Promise<void> {
  await holdLease(tx, lease);
  const written = assign({ ...changes, due_at: dueUnlessStirred(row.stir, dueInMs) });
  await tx.query(sql`update discovery.crawl_target as target set ${written} where id = ${row.id}`);
}

/** If something stirred a target meanwhile, it is due now, unless it lost its entry or is no longer needed: then nothing would do the work. */
function dueUnlessStirred(stir: number | Sql, dueInMs: number | null | Sql): Sql {
  return sql`case when target.index_id is null or not target.named then null when target.stir = ${stir} then ${dueIn(dueInMs)} else now() end`;
}

export interface AppliedTarget {
  id: number;
  stir: number;
  /** Null: the entry is not processed yet. */
  settled_digest: string | null;
  applied_entry_version: number;
  version: number | null;
  applied_master: boolean;
  resources: number;
  entry_key: string;
  content_keys: readonly string[];
  /** Starting with its baseline: the content signed by a revoked key is removed. */
  reread: boolean;
  failures: number;
  last_code: string | null;
  due_in_ms: number | null;
}

/** Always in the same order. */
export async function lockTargets(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.query(sql`select from discovery.crawl_target
    where id = any (${ids}) order by id for no key update`);
}

/** Moves the cursors of these targets; requires their locks (`lockTargets`); each stays due if something stirred it meanwhile. */
export async function recordApplied(tx: Transaction, applied: readonly AppliedTarget[]): Promise<void> {
  await tx.query(sql`update discovery.crawl_target as target
    set settled_digest = coalesce(done.settled_digest, target.settled_digest), applied_entry_version = done.applied_entry_version,
      version = done.version, applied_master = done.applied_master, resources = done.resources, entry_key = done.entry_key,
      content_keys = done.content_keys, unverified_since = case when not reread then target.unverified_since end,
      failures = done.failures, last_code = done.last_code, relevant = true, waiting_for = null,
      due_at = ${dueUnlessStirred(sql`done.stir`, sql`done.due_in_ms`)}
    from json_to_recordset(${JSON.stringify(applied)}::json) as done (
      id bigint, stir bigint, settled_digest text, applied_entry_version bigint, version bigint, applied_master boolean, resources bigint,
      entry_key text, content_keys text[], reread boolean, failures integer, last_code text, due_in_ms float8)
    where target.id = done.id`);
}

/** The number of resources of nodes in all their catalogs except these; it is locked until the transaction ends. */
export async function countOtherResources(
  tx: Transaction,
  targets: readonly Pick<TargetRow, 'id' | 'node_id'>[],
): Promise<Map<number, number>> {
  const nodes = [...new Set(targets.map(({ node_id: node }) => node))];
  await tx.query(sql`select from discovery.crawl_node
    where id = any (${nodes}) order by id for no key update`);
  // A separate statement: it sees commits made during the wait for the lock.
  const rows = await tx.rows<{ node_id: number; sum: number }>(sql`
    select node_id, sum(resources)::bigint as sum from discovery.crawl_target
    where node_id = any (${nodes}) and id <> all (${targets.map(({ id }) => id)}) group by node_id`);
  return new Map(rows.map(({ node_id: node, sum }) => [node, sum]));
}

/**
 * Updates which catalogs of a node are verified. `revoked` are all of its revoked keys, except `unasked` ones, which could not be looked up: content
 * signed by those keeps its state, unless a revoked key signed it, too. Returns the changed catalogs. Content that is no longer verified is read
 * again: it may have been signed again before.
 */
export async function judgeKeys(
  tx: Transaction,
  lease: HostLease,
  nodeId: number,
  { revoked, unasked }: { revoked: readonly string[]; unasked: readonly string[] },
  now: Date,
): Promise<{ catalogId: string; unverified: boolean }[]> {
  await holdLease(tx, lease);
  return tx.rows<{ catalogId: string; unverified: boolean }>(sql`update discovery.crawl_target
    set unverified_since = case when (content_keys || entry_key) && ${revoked} then ${now}::timestamptz end, stir = stir + 1,
      due_at = case when (content_keys || entry_key) && ${revoked} and index_id is not null and named then now() else due_at end
    where node_id = ${nodeId} and version is not null and retired_at is null
      and ((content_keys || entry_key) && ${revoked}) <> (unverified_since is not null)
      and ((content_keys || entry_key) && ${revoked} or not (content_keys || entry_key) && ${unasked})
    returning catalog_id as "catalogId", unverified_since is not null as unverified`);
}

/** Whether the entries of a node are for us may have changed: each is processed again. */
export async function judgeEntriesAgain(tx: Transaction, nodeId: number): Promise<void> {
  await tx.query(sql`update discovery.crawl_target set settled_digest = null, stir = stir + 1, due_at = now()
    where node_id = ${nodeId} and named and index_id is not null`);
}
