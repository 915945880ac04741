import type { Queryable, Transaction } from '../database.ts';
import { type Sql, sql } from '../sql.ts';
import { dueIn } from '../work/leases.ts';
import { type HostLease, holdLease } from './hosts.ts';
import { fetchedToday } from './nodes.ts';
import { isWanted } from './sources.ts';

// The indexes of the crawled nodes and their entries. An index, its entries and its ETag are written together, so that a later "unchanged" never
// hides work: the remaining work is in the targets (targets.ts).

export interface IndexRow {
  id: number;
  host_id: number;
  url: string;
  node_id: number;
  node: string;
  /** From the last read of the node's registry record. */
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
  /** Whether a key prevents content of its node from being served. */
  has_unverified: boolean;
}

export function takeDueIndexes(queryable: Queryable, hosts: readonly number[], limit: number, now: Date) {
  return queryable.rows<IndexRow>(sql`
    select item.id, item.host_id, item.url, node_id, node, subscriber_id, key_names, etag, modified, served_digest as digest, item.next_update,
      item.failures, item.stir,
      ${fetchedToday(now)},
      array(
        select distinct key from discovery.crawl_target, unnest(content_keys || entry_key) as key
        where node_id = item.node_id and version is not null and retired_at is null and key is not null
      ) as keys,
      exists (select from discovery.crawl_target where node_id = item.node_id and unverified_since is not null) as has_unverified
    from unnest(${hosts}::bigint[]) as host (id) cross join lateral (
      select * from discovery.crawl_index where host_id = host.id and due_at <= now() order by due_at limit ${limit}
    ) as item join discovery.crawl_node as node on node.id = item.node_id
    order by item.due_at`);
}

export interface PolledIndex {
  row: IndexRow;
  dueInMs: number;
}

/** A whole batch costs one statement. Requires the leases on its hosts. */
export async function recordUnchanged(tx: Transaction, indexes: readonly PolledIndex[]): Promise<void> {
  if (indexes.length === 0) return;
  const polled = indexes.map(({ row, dueInMs }) => ({ index: row.id, seen: row.stir, ms: dueInMs }));
  await tx.query(sql`update discovery.crawl_index as item
    set failures = 0, due_at = ${dueUnlessStirred(sql`seen`, sql`ms`)}
    from jsonb_to_recordset(${JSON.stringify(polled)}) as polled (index bigint, seen bigint, ms float8)
    where item.id = polled.index`);
}

/** If an index got a hint meanwhile, it is due, unless it is no longer listed. */
function dueUnlessStirred(stir: number | Sql, dueInMs: number | Sql): Sql {
  return sql`case when not listed then null when stir = ${stir} then ${dueIn(dueInMs)} else now() end`;
}

export async function postponeIndex(tx: Transaction, lease: HostLease, row: IndexRow, dueInMs: number) {
  await holdLease(tx, lease);
  await tx.query(sql`update discovery.crawl_index
    set failures = failures + 1, due_at = ${dueUnlessStirred(row.stir, dueInMs)} where id = ${row.id}`);
}

export interface ReadIndex {
  etag?: string;
  modified?: string;
  digest?: string;
  /** Undefined if it announces none. */
  nextUpdate: Date | undefined;
  entries: readonly ReadEntry[];
  /** Catalogs whose entry exists but was discarded: they are not absent. */
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

export interface IndexEffects {
  /** No longer in any index of the node; in one again. */
  absent: string[];
  returned: string[];
  /** In more than one. */
  repeated: string[];
}

type ReadEffects = IndexEffects & { retired: string[] };

export async function recordIndex(
  tx: Transaction,
  lease: HostLease,
  row: IndexRow,
  read: ReadIndex,
  { dueInMs, failures = 0, ...choice }: EntryChoice & { dueInMs: number; failures?: number },
): Promise<ReadEffects> {
  const { now } = choice;
  await holdLease(tx, lease);
  // Which entry counts depends on all indexes of the node: one transaction after the other, because each must see the others' entries.
  await tx.query(sql`select from discovery.crawl_node where id = ${row.node_id} for no key update`);
  await tx.query(sql`update discovery.crawl_index
    set etag = case when listed then ${read.etag} end, modified = case when listed then ${read.modified} end,
      served_digest = case when listed then ${read.digest} end,
      next_update = ${read.nextUpdate}, read_at = ${now}, failures = ${failures}, due_at = ${dueUnlessStirred(row.stir, dueInMs)}
    where id = ${row.id}`);
  await writeEntries(tx, row, read);
  const effects = await chooseEntries(tx, row.node_id, choice);
  return { ...effects, retired: await retireListed(tx, row.node_id, read.entries, now) };
}

/** A catalog is retired permanently once any retiredAt is seen, whichever entry counts. */
async function retireListed(tx: Transaction, nodeId: number, entries: readonly ReadEntry[], now: Date) {
  const retired = entries.filter(({ isRetired }) => isRetired).map(({ catalogId }) => catalogId);
  if (retired.length === 0) return [];
  return tx.column<string>(sql`update discovery.crawl_target set retired_at = ${now}, stir = stir + 1
    where node_id = ${nodeId} and catalog_id = any (${retired}) and retired_at is null returning catalog_id as id`);
}

async function writeEntries(tx: Transaction, row: IndexRow, { entries, discarded }: ReadIndex) {
  const named = [...entries.map(({ catalogId }) => catalogId), ...discarded];
  await tx.query(sql`delete from discovery.crawl_entry
    where index_id = ${row.id} and catalog_id <> all (${named})`);
  await tx.query(sql`
    insert into discovery.crawl_entry as known (index_id, node_id, catalog_id, entry_version, is_master, digest, document)
    select ${row.id}, ${row.node_id}, "catalogId", "entryVersion", "isMaster", digest, document::json
    from json_to_recordset(${JSON.stringify(entries)}::json) as listed ("catalogId" text, "entryVersion" bigint, "isMaster" boolean,
      digest text, document text)
    on conflict (index_id, catalog_id) do update set entry_version = excluded.entry_version, is_master = excluded.is_master,
      digest = excluded.digest, document = excluded.document
    where known.digest <> excluded.digest`);
}

/** Decides which entry of each catalog of a node counts: the one with the highest entryVersion. A catalog in no index is absent once every listed index has been read; if it was never read, it is deleted. */
export async function chooseEntries(tx: Transaction, nodeId: number, { now, hideUnconfirmed }: EntryChoice) {
  const listed = sql`discovery.crawl_entry as entry join discovery.crawl_index as item on item.id = entry.index_id and listed`;
  const isAllRead = sql`not exists (select from discovery.crawl_index where node_id = ${nodeId} and listed and read_at is null)`;
  const isNowhere = sql`not exists (
    select from ${listed} where entry.node_id = ${nodeId} and entry.catalog_id = target.catalog_id
  )`;
  const chosen = await tx.rows<{ catalog_id: string; returned: boolean }>(sql`with best as (
      select distinct on (catalog_id) catalog_id, index_id, entry_version, digest, is_master
      from ${listed} where entry.node_id = ${nodeId} order by catalog_id, entry_version desc, index_id
    ), before as (
      select catalog_id, unconfirmed_since is not null as was_absent from discovery.crawl_target where node_id = ${nodeId}
    ), written as (
      insert into discovery.crawl_target as target
        (node_id, node, host_id, catalog_id, is_master, index_id, entry_version, digest, named, due_at)
      select node.id, node.node, node.host_id, catalog_id, is_master, index_id, entry_version, digest, ${isWanted(sql`best`)},
        case when ${isWanted(sql`best`)} then now() end
      from best cross join discovery.crawl_node as node where node.id = ${nodeId}
      on conflict (node_id, catalog_id) do update
      set index_id = excluded.index_id, entry_version = excluded.entry_version, digest = excluded.digest, is_master = excluded.is_master,
        named = excluded.named, unconfirmed_since = null, hidden = false, waiting_for = null, failures = 0, stir = target.stir + 1,
        due_at = case when excluded.digest is distinct from target.settled_digest or target.unverified_since is not null then excluded.due_at end
      where target.index_id is distinct from excluded.index_id or target.digest is distinct from excluded.digest
        or target.unconfirmed_since is not null
      returning catalog_id
    )
    select catalog_id, coalesce(was_absent, false) as returned from written left join before using (catalog_id)`);
  await tx.query(sql`delete from discovery.crawl_target as target using (select ${isAllRead} as complete) as reading
    where node_id = ${nodeId} and complete and version is null and retired_at is null and ${isNowhere}`);
  const gone = await tx.rows<{ catalog_id: string; absent: boolean }>(sql`
    update discovery.crawl_target as target
    set index_id = null, due_at = null, stir = stir + 1, hidden = ${hideUnconfirmed} and complete and retired_at is null,
      unconfirmed_since = case when complete and retired_at is null then ${now}::timestamptz end
    from (select ${isAllRead} as complete) as reading
    where node_id = ${nodeId} and (index_id is not null or complete and retired_at is null and unconfirmed_since is null) and ${isNowhere}
    returning catalog_id, unconfirmed_since is not null as absent`);
  const repeated = await tx.column<string>(sql`select catalog_id from ${listed}
    where entry.node_id = ${nodeId} group by catalog_id having count(*) > 1`);
  const ids = (rows: readonly { catalog_id: string }[]) => rows.map(({ catalog_id: id }) => id);
  return {
    absent: ids(gone.filter(({ absent }) => absent)),
    returned: ids(chosen.filter(({ returned }) => returned)),
    repeated,
  };
}

interface EntryChoice {
  now: Date;
  hideUnconfirmed: boolean;
}

export function countEntries(queryable: Queryable, nodeId: number) {
  return queryable.value<number>(sql`select count(*) as entries from discovery.crawl_entry as entry
      join discovery.crawl_index as item on item.id = index_id and listed
    where entry.node_id = ${nodeId}`);
}
