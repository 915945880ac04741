// The change feed of the search index (discovery.change) for SQL: a row for each transaction that changed the index. A snapshot is stale if a
// transaction has committed since that the snapshot does not include.

/** The state of the index behind an answer. */
export interface Freshness {
  /** The committed transactions, in PostgreSQL's text form. */
  snapshot: string;
  /** The server and tables of the snapshot. On another server, or after a restore, transaction numbers mean nothing. */
  server: string;
}

/** A position of a server's write-ahead log. A replica that has replayed it up to there shows everything committed before. */
export interface Position extends Pick<Freshness, 'server'> {
  lsn: number;
}

/** Position of the server's log. The commit record of every transaction in a snapshot is before a position that is read after it. */
export const positionText = `case when not pg_is_in_recovery() then (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 end`;

/** Something has changed since: an answer made before is no longer valid. */
export class Stale extends Error {}

/** After a restore, the files of a table are different. */
export const serverText = `concat_ws(' ', pg_postmaster_start_time(), pg_relation_filepath('discovery.change'))`;

export function isNewsTo(snapshot: string): string {
  return `xid >= pg_snapshot_xmin(${snapshot}::pg_snapshot) and not pg_visible_in_snapshot(xid, ${snapshot}::pg_snapshot)`;
}

/** Whether nothing has changed since a snapshot; true without one. Ordered, because PostgreSQL would otherwise search all changes for the first one. */
export function freshCondition(snapshot: string, server: string): string {
  return `(${snapshot}::pg_snapshot is null or
    ${server} = ${serverText} and (select xid from discovery.change where ${isNewsTo(snapshot)} and merged = '{}' order by xid limit 1) is null)`;
}
