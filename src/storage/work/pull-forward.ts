import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { dueIn, matching, tableName } from './leases.ts';

// Repairs due times after a jump of the database's clock. While the clock is ahead, rows become due, and are leased, by it; after it is set back,
// they would wait for the length of the jump. The maximum wait of each kind of work is known: a row that is due later is made due at once. A lease
// longer than any can be is cut to the usual length: a living holder renews it, and a dead one loses it.

/** Requires an index on due_at and one on leased_until. */
export async function pullForward(
  queryable: Queryable,
  table: string,
  where: Record<string, unknown> | undefined,
  { longestWaitMs, longestLeaseMs }: { longestWaitMs: number; longestLeaseMs: number },
): Promise<void> {
  const name = tableName(table);
  const [waitsEnd, leasesEnd] = [dueIn(longestWaitMs), dueIn(longestLeaseMs)];
  const match = matching(where);
  // Rows that are being written are checked the next time.
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
