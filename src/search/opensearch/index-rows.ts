import { randomBytes } from 'node:crypto';
import type { Database, Queryable } from '../../storage/database.ts';
import { isNewsTo } from '../../storage/freshness.ts';

// The indexes of OpenSearch as PostgreSQL knows them (migrations/0004-discovery.sql): one row for each, with the watermark up to which it has what was committed, and the lease of the process that
// writes it. What was committed after a watermark is told by the keys in discovery.document_change.

export interface IndexRow {
  name: string;
  version: number;
  isCurrent: boolean;
  /** The watermark; null before the build has begun. */
  snapshot: string | null;
  /** Null: all of it is built. */
  builtUpTo: number | null;
  documents: number;
  /** The version of what is written next. */
  epoch: number;
  problem: string | null;
  /** Something was committed after the watermark. */
  hasNews: boolean;
}

const columns = `name, version, is_current as "isCurrent", snapshot::text as snapshot, built_up_to as "builtUpTo", documents, epoch, problem,
  (select xid from discovery.document_change where ${isNewsTo('snapshot')} order by xid limit 1) is not null as "hasNews"`;

/** The history of the server, which changes when a replica takes the place of the primary: at once on that one, and after a while on other replicas. */
const timelineText = `case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
  else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer end`;

/** The numbers of transactions are of one server, one history of it, and one table. */
const originText = `concat_ws(' ', (select system_identifier from pg_control_system()), ${timelineText},
  pg_relation_filepath('discovery.document_change'))`;

const leaseMs = 30_000;

/** Another process has the lease, or may have had it meanwhile. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export async function listIndexes(queryable: Queryable): Promise<IndexRow[]> {
  const { rows } = await queryable.query<IndexRow>(
    `select ${columns} from discovery.opensearch_index where origin = ${originText} order by version, is_current desc, name`,
  );
  return rows.map((row) => ({ ...row, documents: Number(row.documents) }));
}

/** The names of those that nobody can use any more: of another history of the database, or of versions that no process knows. */
export async function listUnused(queryable: Queryable, versions: readonly number[]): Promise<string[]> {
  const { rows } = await queryable.query<{ name: string }>(
    `select name from discovery.opensearch_index where origin <> ${originText} or version <> all ($1)`,
    [versions],
  );
  return rows.map(({ name }) => name);
}

export async function forgetIndex(queryable: Queryable, name: string): Promise<void> {
  await queryable.query('delete from discovery.opensearch_index where name = $1', [name]);
}

/** A new one, to be built. */
export async function addIndex(queryable: Queryable, version: number): Promise<string> {
  const name = `${aliasOf(version)}-${randomBytes(4).toString('hex')}`;
  await queryable.query(
    `insert into discovery.opensearch_index (name, version, origin) values ($1, $2, ${originText})`,
    [name, version],
  );
  return name;
}

export function aliasOf(version: number): string {
  return `signpost-v${version}`;
}

/** With the next epoch; undefined where another process has the lease. */
export async function takeLease(
  queryable: Queryable,
  name: string,
  token: string,
): Promise<IndexRow | undefined> {
  const { rows } = await queryable.query<IndexRow>(
    `update discovery.opensearch_index
     set lease_token = $2, leased_until = now() + $3 * interval '1 millisecond', epoch = epoch + 1
     where name = $1 and (lease_token = $2 or leased_until is null or leased_until < now()) returning ${columns}`,
    [name, token, leaseMs],
  );
  return rows[0];
}

export async function releaseLeases(queryable: Queryable, token: string): Promise<void> {
  await queryable.query(
    'update discovery.opensearch_index set lease_token = null, leased_until = null where lease_token = $1',
    [token],
  );
}

/** Takes the first watermark, as soon as every transaction has ended that may have noted nothing. Returns whether it could. */
export async function beginBuild(queryable: Queryable, name: string, token: string): Promise<boolean> {
  const held = 'name = $1 and lease_token = $2';
  await queryable.query(
    `update discovery.opensearch_index set noted_from = pg_snapshot_xmax(pg_current_snapshot()) where ${held} and noted_from is null`,
    [name, token],
  );
  const { rowCount } = await queryable.query(
    `update discovery.opensearch_index set snapshot = pg_current_snapshot()
     where ${held} and noted_from <= pg_snapshot_xmin(pg_current_snapshot())`,
    [name, token],
  );
  return rowCount > 0;
}

/** Extends the lease, and moves what is given. Throws LeaseLost. */
export async function advance(
  queryable: Queryable,
  { name, epoch }: IndexRow,
  token: string,
  {
    snapshot,
    builtUpTo,
    documents = 0,
  }: { snapshot?: string; builtUpTo?: number | null; documents?: number } = {},
): Promise<void> {
  const { rowCount } = await queryable.query(
    `update discovery.opensearch_index
     set snapshot = coalesce($4::pg_snapshot, snapshot), built_up_to = case when $5 then $6::bigint else built_up_to end,
       documents = documents + $7, problem = null, leased_until = now() + $8 * interval '1 millisecond'
     where name = $1 and lease_token = $2 and epoch = $3`,
    [name, token, epoch, snapshot ?? null, builtUpTo !== undefined, builtUpTo ?? null, documents, leaseMs],
  );
  if (rowCount === 0) throw new LeaseLost(`the lease of ${name} was lost`);
}

export async function noteProblem(queryable: Queryable, token: string, problem: string): Promise<void> {
  await queryable.query('update discovery.opensearch_index set problem = $2 where lease_token = $1', [
    token,
    problem,
  ]);
}

/** Searches use it from now on. Returns the names of those that it replaces. */
export async function makeCurrent(database: Database, { name, version }: IndexRow): Promise<string[]> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ name: string }>(
      'delete from discovery.opensearch_index where version = $2 and is_current and name <> $1 returning name',
      [name, version],
    );
    await tx.query('update discovery.opensearch_index set is_current = true where name = $1', [name]);
    return rows.map((row) => row.name);
  });
}

export interface ChangedKeys {
  keys: number[];
  /** The watermark when these are written. */
  snapshot: string;
  /** Whether there are no others. */
  isAll: boolean;
}

/** What was committed after a watermark, in the order of transactions: the first ones that have so many keys together, or one that has more. */
export async function readChanges(
  queryable: Queryable,
  watermark: string,
  maxKeys: number,
): Promise<ChangedKeys> {
  const { rows } = await queryable.query<{
    now: string;
    xid: string | null;
    keys: string | null;
    total: number;
  }>(
    `select pg_current_snapshot()::text as now, null as xid, null as keys, 0 as total
     union all (
       select null, xid::text, array_to_json(keys)::text, total from (
         select xid, keys, sum(cardinality(keys)) over (order by xid) as up_to, first_value(xid) over (order by xid) as first_xid,
           count(*) over () as total
         from (
           -- Rows of the next transaction are read to the last one, too.
           select xid, keys from discovery.document_change where ${isNewsTo('$1')} order by xid
           fetch first ($2::integer + 1) rows with ties
         ) as first_ones
       ) as news where up_to <= $2 or xid = first_xid order by news.xid
     )`,
    [watermark, maxKeys],
  );
  const [{ now: snapshot } = { now: watermark }, ...changes] = rows;
  const last = changes.at(-1);
  const isAll = last === undefined || changes.length === Number(last.total);
  return {
    keys: [...new Set(changes.flatMap(({ keys }): number[] => JSON.parse(keys ?? '[]')))],
    snapshot: isAll || last.xid === null ? snapshot : cutSnapshot(snapshot, BigInt(last.xid)),
    isAll,
  };
}

/** A snapshot that sees what another one sees, but no transaction after one. */
function cutSnapshot(snapshot: string, last: bigint): string {
  const [lowest = '0', , running = ''] = snapshot.split(':');
  const end = last + 1n;
  const left = running.split(',').filter((xid) => xid !== '' && BigInt(xid) < end);
  const xmin = BigInt(lowest) < end ? BigInt(lowest) : end;
  return `${xmin}:${end}:${left.join(',')}`;
}

/** Forgets what every index has. */
export async function purgeNotes(queryable: Queryable): Promise<void> {
  await queryable.query(
    `delete from discovery.document_change where xid < (
       select pg_snapshot_xmin(snapshot) from discovery.opensearch_index where snapshot is not null order by 1 limit 1)`,
  );
}

/**
 * An index that nobody has followed for a day is forgotten, and built anew when somebody does again: otherwise notes would be kept for it for ever. Its documents in OpenSearch are left to the
 * operator.
 */
export async function forgetAbandoned(queryable: Queryable): Promise<void> {
  await queryable.query(
    `with abandoned as (
       delete from discovery.opensearch_index where now() - $1 * interval '1 millisecond' > (
         select at from discovery.document_change where ${isNewsTo(`coalesce(snapshot, '1:1:')`)} order by xid limit 1)
       returning name
     )
     delete from discovery.document_change where not exists (
       select from discovery.opensearch_index where name not in (select name from abandoned))`,
    [abandonedAfterMs],
  );
}

const abandonedAfterMs = 24 * 3_600_000;

export interface CurrentIndex {
  name: string;
  /** Keys that were committed after its watermark, some twice: one more than may be at most, where there are more. */
  changed: number[];
}

/** The index that searches of a version ask, with what it does not have yet, all of one moment; undefined: none is built. */
export async function readCurrent(
  queryable: Queryable,
  version: number,
  maxChanged: number,
): Promise<CurrentIndex | undefined> {
  const { rows } = await queryable.query<{ name: string; changed: string | null }>(
    `select name, (
       select array_to_json(array_agg(key))::text from (
         select unnest(keys) as key from discovery.document_change where ${isNewsTo('snapshot')} limit $2
       ) as changed) as changed
     from discovery.opensearch_index where is_current and version = $1 and origin = ${originText}`,
    [version, maxChanged + 1],
    { prepared: true },
  );
  const [row] = rows;
  return row && { name: row.name, changed: JSON.parse(row.changed ?? '[]') };
}
