import { isParked } from '../work/parked.ts';

// Counts that stay quick, however many rows there are.

/** SQL: counts rows one by one, up to a bound. */
export function countUpTo(bound: number, rows: string): string {
  return `(select count(*) from (select from ${rows} limit ${bound}) as counted)`;
}

/** SQL: the same, and beyond the bound PostgreSQL's own estimate, which its last vacuum has left with the table, or with a partial index on the rows. */
export function countOrEstimate(bound: number, rows: string, relation: string): string {
  return `(select case when few < ${bound} then few
       else greatest(few, (select reltuples::bigint from pg_class where oid = '${relation}'::regclass)) end
     from (select ${countUpTo(bound, rows)} as few) as counted)`;
}

/** SQL: rows of deliveries that wait for their next try, and of those that are not tried any more. */
export const deliveries = {
  waitingCallbacks: 'work.callback where due_at is not null',
  parkedCallbacks: `work.callback where ${isParked.callback}`,
  waitingPushes: 'catalog.push where due_at is not null',
  parkedPushes: `catalog.push where ${isParked.push}`,
};
