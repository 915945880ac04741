import type { Database, Queryable, Transaction } from '../database.ts';
import { newRow, sql } from '../sql.ts';

// The log of catalog changes. A change and its row commit together, the row still without a number. Numbers are given to committed rows, one
// numbering at a time: whoever sees a number sees all lower ones, so that a reader who remembers how far it got misses nothing.
// Changes of one catalog are numbered in the order in which they happened, because a writer locks the catalog before it logs.

/** Any constant will do, as long as it stays: the key of the advisory lock. */
const numberingLock = 7_206_113_002;
const numberingBatch = 10_000;

/** Hints on this channel say that there are changes without a number. */
export const changesChannel = 'changes';

export interface NewChange {
  catalogKey: number;
  version: number;
  publisher: string;
  /** Absent when no publish caused it, e.g. a new version of a master. */
  submissionId?: number;
  kind: string;
  at: Date;
  /** JSON text. */
  details: string;
}

export interface Change extends Required<Omit<NewChange, 'submissionId'>> {
  /** Rises without end; has no gaps. */
  seq: number;
  submissionId: number | null;
}

/** Logs a change in the transaction that makes it. The caller holds the lock on the catalog's row. */
export async function appendChange(tx: Transaction, change: NewChange): Promise<void> {
  await tx.query(sql`insert into catalog.change_log ${newRow(change)}`);
  tx.hint(changesChannel);
}

export async function numberChanges(database: Database): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount: waiting } = await database.query(sql`select from catalog.change_log
      where seq is null limit 1`);
    const numbered = waiting === 0 ? 0 : await database.transaction(numberBatch);
    total += numbered;
    if (numbered < numberingBatch) return total;
  }
}

async function numberBatch(tx: Transaction): Promise<number> {
  // A statement of its own: the next one must see what the last holder of the lock has committed.
  await tx.query(sql`select pg_advisory_xact_lock(${numberingLock})`);
  return tx.count(sql`update catalog.change_log as change
    set seq = numbered.seq
    from (
      select id, coalesce((select max(seq) from catalog.change_log), 0) + row_number() over (order by id) as seq
      from (select id from catalog.change_log where seq is null order by id limit ${numberingBatch}) as waiting
    ) as numbered
    where change.id = numbered.id`);
}

export function readChanges(queryable: Queryable, afterSeq: number, limit: number) {
  return queryable.rows<Change>(sql`select ${columns} from catalog.change_log
    where seq > ${afterSeq} order by seq limit ${limit}`);
}

const columns = sql`seq, catalog_key as "catalogKey", version, publisher, submission_id as "submissionId", kind, at, details`;

const purgeBatch = 5_000;

/** Forgets changes from before a time, except the latest numbered one of each catalog, which the numbering goes on from; returns how many. It walks over the log once, so that no batch looks at kept rows again. */
export async function purgeChanges(database: Database, before: Date): Promise<number> {
  let total = 0;
  for (let last = 0; ; ) {
    const batch = await database.one<{ last: number | null; old: number; gone: number }>(sql`
      with batch as (
        select id, catalog_key, version, seq, at from catalog.change_log where id > ${last} order by id limit ${purgeBatch}
      ), gone as (
        delete from catalog.change_log where id in (
          select id from batch
          where at < ${before} and seq <= (select seq from catalog.push_cursor) and exists (
            select from catalog.change_log as later
            where later.catalog_key = batch.catalog_key and later.version > batch.version and later.seq > batch.seq
          )
        ) returning id
      )
      select max(id) as last, count(*) filter (where at < ${before}) as old, (select count(*) from gone) as gone from batch`);
    total += batch.gone;
    if (batch.last === null || batch.old === 0) return total;
    last = batch.last;
  }
}

export function listChanges(queryable: Queryable, catalogKey: number, limit: number) {
  return queryable.rows<Change>(sql`select ${columns} from catalog.change_log
    where catalog_key = ${catalogKey} order by version desc limit ${limit}`);
}
