import type { Database, Queryable, Transaction } from '../database.ts';

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

export interface Change extends NewChange {
  /** Rises without end; has no gaps. */
  seq: number;
}

/** Logs a change in the transaction that makes it. The caller holds the lock on the catalog's row. */
export async function appendChange(tx: Transaction, change: NewChange): Promise<void> {
  const { catalogKey, version, publisher, submissionId, kind, at, details } = change;
  await tx.query(
    `insert into catalog.change_log (catalog_key, version, publisher, submission_id, kind, at, details)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [catalogKey, version, publisher, submissionId ?? null, kind, at, details],
  );
  tx.hint(changesChannel);
}

/** Numbers what has been committed; returns how many changes got a number. */
export async function numberChanges(database: Database): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount: waiting } = await database.query(
      'select from catalog.change_log where seq is null limit 1',
    );
    const numbered = waiting === 0 ? 0 : await database.transaction(numberBatch);
    total += numbered;
    if (numbered < numberingBatch) return total;
  }
}

async function numberBatch(tx: Transaction): Promise<number> {
  // A statement of its own: the next one must see what the last holder of the lock has committed.
  await tx.query('select pg_advisory_xact_lock($1)', [numberingLock]);
  const { rowCount } = await tx.query(
    `update catalog.change_log as change
     set seq = numbered.seq
     from (
       select id, coalesce((select max(seq) from catalog.change_log), 0) + row_number() over (order by id) as seq
       from (select id from catalog.change_log where seq is null order by id limit $1) as waiting
     ) as numbered
     where change.id = numbered.id`,
    [numberingBatch],
  );
  return rowCount;
}

/** The numbered changes after a number, in order. */
export async function readChanges(queryable: Queryable, afterSeq: number, limit: number): Promise<Change[]> {
  const { rows } = await queryable.query<ChangeRow>(
    `select seq, catalog_key, version, publisher, submission_id, kind, at, details
     from catalog.change_log where seq > $1 order by seq limit $2`,
    [afterSeq, limit],
  );
  return rows.map(toChange);
}

const purgeBatch = 1_000;

/**
 * Forgets changes from before a time; the latest numbered one of each catalog is kept for ever, and so the highest number of all, from
 * which the numbering goes on. Returns how many were forgotten.
 */
export async function purgeChanges(database: Database, before: Date): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await database.query(
      `delete from catalog.change_log where id in (
         select id from catalog.change_log as old
         where at < $1 and seq <= (select seq from catalog.push_cursor) and exists (
           select from catalog.change_log as later
           where later.catalog_key = old.catalog_key and later.version > old.version and later.seq > old.seq
         )
         limit $2
       )`,
      [before, purgeBatch],
    );
    total += rowCount;
    if (rowCount < purgeBatch) return total;
  }
}

/** The changes of one catalog that are still known, the latest first. */
export async function listChanges(
  queryable: Queryable,
  catalogKey: number,
  limit: number,
): Promise<Change[]> {
  const { rows } = await queryable.query<ChangeRow>(
    `select seq, catalog_key, version, publisher, submission_id, kind, at, details
     from catalog.change_log where catalog_key = $1 order by version desc limit $2`,
    [catalogKey, limit],
  );
  return rows.map(toChange);
}

function toChange({ catalog_key, submission_id, ...row }: ChangeRow): Change {
  return { ...row, catalogKey: catalog_key, submissionId: submission_id ?? undefined };
}

interface ChangeRow {
  seq: number;
  catalog_key: number;
  version: number;
  publisher: string;
  submission_id: number | null;
  kind: string;
  at: Date;
  details: string;
}
