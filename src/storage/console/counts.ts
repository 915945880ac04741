import { type Sql, sql } from '../sql.ts';
import { isParked } from '../work/parked.ts';

// Counts that stay quick, however many rows there are.

export function countUpTo(bound: number, rows: Sql): Sql {
  return sql`(select count(*) from (select from ${rows} limit ${bound}) as counted)`;
}

/** The same, and beyond the bound PostgreSQL's own estimate, which its last vacuum has left with the table, or with a partial index on the rows. */
export function countOrEstimate(bound: number, rows: Sql, relation: string): Sql {
  return sql`(select case when few < ${bound} then few
       else greatest(few, (select reltuples::bigint from pg_class where oid = ${relation}::regclass)) end
     from (select ${countUpTo(bound, rows)} as few) as counted)`;
}

/** Deliveries that wait for their next try, and those that are not tried any more. */
export const deliveries = {
  waitingCallbacks: sql`work.callback where due_at is not null`,
  parkedCallbacks: sql`work.callback where ${isParked.callback}`,
  waitingPushes: sql`catalog.push where due_at is not null`,
  parkedPushes: sql`catalog.push where ${isParked.push}`,
};
