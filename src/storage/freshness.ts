// The change feed of the search index (discovery.change), as far as SQL asks it: a row for each transaction that changed the index. A process that knows a snapshot is
// stale when a transaction has committed since that the snapshot does not see.

/** The state of the index that an answer was made from. */
export interface Freshness {
  /** The committed transactions, as PostgreSQL writes them. */
  snapshot: string;
  /** Which server and tables the snapshot is of. To another server, or to a database that was restored, the numbers of transactions mean nothing. */
  server: string;
}

/** How far the write-ahead log of a server had come. A replica that has replayed it up to there shows all that had been committed. */
export interface Position extends Pick<Freshness, 'server'> {
  lsn: number;
}

/** Position of the server's log. Every transaction that a snapshot sees has its commit record before a position read after it. */
export const positionText = `case when not pg_is_in_recovery() then (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 end`;

/** Something has changed since: an answer that was made before must not be given any more. */
export class Stale extends Error {}

/** The files of a table are others after a restore. */
export const serverText = `concat_ws(' ', pg_postmaster_start_time(), pg_relation_filepath('discovery.change'))`;

export function isNewsTo(snapshot: string): string {
  return `xid >= pg_snapshot_xmin(${snapshot}::pg_snapshot) and not pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot)`;
}

/** Whether nothing has changed since a snapshot; without one it holds. Ordered, because PostgreSQL would otherwise look for the first one among all changes. */
export function freshCondition(snapshot: string, server: string): string {
  return `(${snapshot}::pg_snapshot is null or
    ${server} = ${serverText} and (select xid from discovery.change where ${isNewsTo(snapshot)} and merged = '{}' order by xid limit 1) is null)`;
}
