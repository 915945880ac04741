import type { Queryable } from '../database.ts';
import { sql } from '../sql.ts';
import { dueIn } from './leases.ts';

/** Whether this process does the housekeeping now: the one that moves the due time does. A due time too far ahead is from before the clock was set back. */
export async function claimHousekeeping(queryable: Queryable, everyMs: number): Promise<boolean> {
  const next = dueIn(everyMs);
  return (
    (await queryable.count(sql`update work.housekeeping set due_at = ${next}
    where due_at not between now() and ${next}`)) > 0
  );
}
