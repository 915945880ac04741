import type { Queryable } from '../database.ts';

/** Whether this process does the housekeeping now: the one that moves the due time does. A due time too far ahead is from before the clock was set back. */
export async function claimHousekeeping(queryable: Queryable, everyMs: number): Promise<boolean> {
  const next = `now() + $1::float8 * interval '1 millisecond'`;
  const { rowCount } = await queryable.query(
    `update work.housekeeping set due_at = ${next} where due_at not between now() and ${next}`,
    [everyMs],
  );
  return rowCount > 0;
}
