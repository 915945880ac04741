import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { dueIn, matching, tableName } from './leases.ts';

// Repairs due times after a jump of the database's clock. While the clock is ahead, rows are made due, and leased, by it; when it is set back, they would
// wait for as long as the jump was. How long a kind of work waits at most is known: a row that is due further ahead is due at once. A lease that
// lasts longer than any can is cut to the usual length, which a living holder prolongs, and a dead one loses.

/** Wants an index on due_at and one on leased_until. */
export async function pullForward(
  queryable: Queryable,
  table: string,
  where: Record<string, unknown> | undefined,
  { longestWaitMs, longestLeaseMs }: { longestWaitMs: number; longestLeaseMs: number },
): Promise<void> {
  const name = tableName(table);
  const [waitsEnd, leasesEnd] = [dueIn(longestWaitMs), dueIn(longestLeaseMs)];
  const match = matching(where);
  // Rows that are being written are looked at the next time.
  await queryable.query(
    sql`with far as materialized (
       select id from (
         (select id from ${name} where leased_until > ${leasesEnd} ${match})
         union
         (select id from ${name} where due_at > ${waitsEnd} ${match})
       ) as ahead
     ), held as materialized (
       select work.id from ${name} as work join far using (id) for no key update of work skip locked
     )
     update ${name} as work
     set leased_until = case when leased_until > ${leasesEnd} then ${leasesEnd} else leased_until end,
       due_at = case when due_at = leased_until then least(due_at, ${leasesEnd}) when due_at > ${waitsEnd} then now() else due_at end
     from held where work.id = held.id`,
    { prepared: true },
  );
}
