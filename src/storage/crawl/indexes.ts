import type { Queryable, Transaction } from '../database.ts';
import { dueIn } from '../work/leases.ts';
import { type HostLease, holdLease } from './hosts.ts';
import { dayOf, fetchedToday } from './nodes.ts';
import { isWanted } from './sources.ts';

// The indexes of the crawled nodes and their entries. An index that was read, its entries and its ETag are written together, so that a later
// "unchanged" never hides work: what is still to do stands in the targets (targets.ts).

export interface IndexRow {
  id: number;
  host_id: number;
  url: string;
  node_id: number;
  node: string;
  subscriber_id: string | null;
  key_names: [name: string, recordId: string][];
  etag: string | null;
  modified: string | null;
  digest: string | null;
  next_update: Date | null;
  failures: number;
  stir: number;
  fetched_today: number;
  /** The keys that signed the served content of its node, whether or not an index still lists it. */
  keys: string[];
  /** Whether a key keeps content of its node from being served. */
  has_unverified: boolean;
}

/** Due indexes of these hosts, a limited number each. */
export function takeDueIndexes(queryable: Queryable, hosts: readonly number[], limit: number, now: Date) {
  return queryable.rows<IndexRow>(
    `select item.id, item.host_id, item.url, node_id, node, subscriber_id, key_names, etag, modified, served_digest as digest, item.next_update,
       item.failures, item.stir,
       ${fetchedToday('node', '$3')},
       array(
         select distinct key from discovery.crawl_target, unnest(content_keys || entry_key) as key
         where node_id = item.node_id and version is not null and retired_at is null and key is not null
       ) as keys,
       exists (select from discovery.crawl_target where node_id = item.node_id and unverified_since is not null) as has_unverified
     from unnest($1::bigint[]) as host (id) cross join lateral (
       select * from discovery.crawl_index where host_id = host.id and due_at <= now() order by due_at limit $2
     ) as item join discovery.crawl_node as node on node.id = item.node_id
     order by item.due_at`,
    [hosts, limit, dayOf(now)],
  );
}

/** An index that was asked for and has not changed. */
export interface PolledIndex {
  row: IndexRow;
  dueInMs: number;
}

/** A whole batch costs one statement. The leases on its hosts are held. */
export async function recordUnchanged(tx: Transaction, indexes: readonly PolledIndex[]): Promise<void> {
  if (indexes.length === 0) return;
  await tx.query(
    `update discovery.crawl_index as item
     set failures = 0, due_at = ${dueUnlessStirred('seen_stir', 'next_ms')}
     from unnest($1::bigint[], $2::bigint[], $3::float8[]) as polled (index_id, seen_stir, next_ms)
     where item.id = polled.index_id`,
    [
      indexes.map(({ row }) => row.id),
      indexes.map(({ row }) => row.stir),
      indexes.map(({ dueInMs }) => dueInMs),
    ],
  );
}

/** An index that was hinted at meanwhile is due, unless it is no longer listed. */
function dueUnlessStirred(stir: string, dueInMs: string): string {
  return `case when not listed then null when stir = ${stir} then ${dueIn(dueInMs)} else now() end`;
}

export async function postponeIndex(
  tx: Transaction,
  lease: HostLease,
  row: IndexRow,
  dueInMs: number,
): Promise<void> {
  await holdLease(tx, lease);
  await tx.query(
    `update discovery.crawl_index set failures = failures + 1, due_at = ${dueUnlessStirred('$2', '$3')} where id = $1`,
    [row.id, row.stir, dueInMs],
  );
}

export interface ReadIndex {
  etag?: string;
  modified?: string;
  /** Digest of the bytes as served. */
  digest?: string;
  /** Undefined where it announces none. */
  nextUpdate: Date | undefined;
  entries: readonly ReadEntry[];
  /** Catalogs whose entry is there but was discarded: they are not absent. */
  discarded: readonly string[];
}

export interface ReadEntry {
  catalogId: string;
  entryVersion: number;
  isMaster: boolean;
  isRetired: boolean;
  digest: string;
  /** JSON text, as received. */
  document: string;
}

/** How an index changed the targets of its node. */
export interface IndexEffects {
  /** In no index of the node any more; in one again. */
  absent: string[];
  returned: string[];
  /** In more than one. */
  repeated: string[];
}

/** Newly retired catalogs. */
export type ReadEffects = IndexEffects & { retired: string[] };

export async function recordIndex(
  tx: Transaction,
  lease: HostLease,
  row: IndexRow,
  read: ReadIndex,
  {
    now,
    dueInMs,
    failures = 0,
    hideUnconfirmed,
  }: { now: Date; dueInMs: number; failures?: number; hideUnconfirmed: boolean },
): Promise<ReadEffects> {
  await holdLease(tx, lease);
  // Which entry counts is decided over all indexes of the node: one after the other, or one would not see what another has just brought.
  await tx.query('select from discovery.crawl_node where id = $1 for no key update', [row.node_id]);
  await tx.query(
    `update discovery.crawl_index
     set etag = case when listed then $3 end, modified = case when listed then $4 end, served_digest = case when listed then $8 end,
       next_update = $5, read_at = $6, failures = $9, due_at = ${dueUnlessStirred('$2', '$7')}
     where id = $1`,
    [
      ...[row.id, row.stir, read.etag ?? null, read.modified ?? null, read.nextUpdate ?? null],
      ...[now, dueInMs, read.digest ?? null, failures],
    ],
  );
  await writeEntries(tx, row, read);
  const effects = await chooseEntries(tx, row.node_id, { now, hideUnconfirmed });
  return { ...effects, retired: await retireListed(tx, row.node_id, read.entries, now) };
}

/** A catalog is retired for ever once any retiredAt is seen, whichever entry counts. */
async function retireListed(tx: Transaction, nodeId: number, entries: readonly ReadEntry[], now: Date) {
  const retired = entries.filter(({ isRetired }) => isRetired).map(({ catalogId }) => catalogId);
  if (retired.length === 0) return [];
  return tx.column<string>(
    `update discovery.crawl_target set retired_at = $3, stir = stir + 1
     where node_id = $1 and catalog_id = any ($2) and retired_at is null returning catalog_id as id`,
    [nodeId, retired, now],
  );
}

async function writeEntries(
  tx: Transaction,
  row: IndexRow,
  { entries, discarded }: ReadIndex,
): Promise<void> {
  await tx.query('delete from discovery.crawl_entry where index_id = $1 and catalog_id <> all ($2)', [
    row.id,
    [...entries.map(({ catalogId }) => catalogId), ...discarded],
  ]);
  await tx.query(
    `insert into discovery.crawl_entry as known (index_id, node_id, catalog_id, entry_version, is_master, digest, document)
     select $1, $2, "catalogId", "entryVersion", "isMaster", digest, document::json
     from json_to_recordset($3::json) as listed ("catalogId" text, "entryVersion" bigint, "isMaster" boolean, digest text, document text)
     on conflict (index_id, catalog_id) do update set entry_version = excluded.entry_version, is_master = excluded.is_master,
       digest = excluded.digest, document = excluded.document
     where known.digest <> excluded.digest`,
    [row.id, row.node_id, JSON.stringify(entries)],
  );
}

/** Which entry counts for each catalog of a node: the one with the highest entryVersion. A catalog in no index is absent once every listed index has been read; if nothing of it was ever read, it is forgotten. */
export async function chooseEntries(
  tx: Transaction,
  nodeId: number,
  { now, hideUnconfirmed }: { now: Date; hideUnconfirmed: boolean },
): Promise<IndexEffects> {
  const { rows: chosen } = await tx.query<{ catalog_id: string; returned: boolean }>(
    `with best as (
       select distinct on (catalog_id) catalog_id, index_id, entry_version, digest, is_master
       from discovery.crawl_entry as entry join discovery.crawl_index as item on item.id = index_id and listed
       where entry.node_id = $1 order by catalog_id, entry_version desc, index_id
     ), before as (
       select catalog_id, unconfirmed_since is not null as was_absent from discovery.crawl_target where node_id = $1
     ), written as (
       insert into discovery.crawl_target as target
         (node_id, node, host_id, catalog_id, is_master, index_id, entry_version, digest, named, due_at)
       select node.id, node.node, node.host_id, catalog_id, is_master, index_id, entry_version, digest, ${isWanted('best', 'node')},
         case when ${isWanted('best', 'node')} then now() end
       from best cross join discovery.crawl_node as node where node.id = $1
       on conflict (node_id, catalog_id) do update
       set index_id = excluded.index_id, entry_version = excluded.entry_version, digest = excluded.digest, is_master = excluded.is_master,
         named = excluded.named, unconfirmed_since = null, hidden = false, waiting_for = null, failures = 0, stir = target.stir + 1,
         due_at = case when excluded.digest is distinct from target.settled_digest or target.unverified_since is not null then excluded.due_at end
       where target.index_id is distinct from excluded.index_id or target.digest is distinct from excluded.digest
         or target.unconfirmed_since is not null
       returning catalog_id
     )
     select catalog_id, coalesce(was_absent, false) as returned from written left join before using (catalog_id)`,
    [nodeId],
  );
  await tx.query(
    `delete from discovery.crawl_target as target using (select ${allRead}) as reading
     where node_id = $1 and complete and version is null and retired_at is null and ${isNowhere}`,
    [nodeId],
  );
  const { rows: gone } = await tx.query<{ catalog_id: string; absent: boolean }>(
    `update discovery.crawl_target as target
     set index_id = null, due_at = null, stir = stir + 1, hidden = $3 and complete and retired_at is null,
       unconfirmed_since = case when complete and retired_at is null then $2::timestamptz end
     from (select ${allRead}) as reading
     where node_id = $1 and (index_id is not null or complete and retired_at is null and unconfirmed_since is null) and ${isNowhere}
     returning catalog_id, unconfirmed_since is not null as absent`,
    [nodeId, now, hideUnconfirmed],
  );
  const { rows: repeated } = await tx.query<{ catalog_id: string }>(
    `select catalog_id from discovery.crawl_entry as entry join discovery.crawl_index as item on item.id = index_id and listed
     where entry.node_id = $1 group by catalog_id having count(*) > 1`,
    [nodeId],
  );
  const ids = (rows: readonly { catalog_id: string }[]) => rows.map(({ catalog_id: id }) => id);
  return {
    absent: ids(gone.filter(({ absent }) => absent)),
    returned: ids(chosen.filter(({ returned }) => returned)),
    repeated: ids(repeated),
  };
}

/** For the node $1: whether all its indexes were read, and none has an entry of the target. */
const allRead =
  'not exists (select from discovery.crawl_index where node_id = $1 and listed and read_at is null) as complete';
const isNowhere = `not exists (
  select from discovery.crawl_entry as entry join discovery.crawl_index as item on item.id = entry.index_id and listed
  where entry.node_id = $1 and entry.catalog_id = target.catalog_id
)`;

/** How many entries the listed indexes of a node have together. */
export function countEntries(queryable: Queryable, nodeId: number) {
  return queryable.value<number>(
    `select count(*) as entries from discovery.crawl_entry as entry
       join discovery.crawl_index as item on item.id = index_id and listed
     where entry.node_id = $1`,
    [nodeId],
  );
}
