import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../storage/database.ts';

/** The lease of some work, in a row of a table: one process at a time does the work, and another one takes over if that process dies. */
export function createLease(queryable: Queryable, row: { table: string; where: string }, leaseMs: number) {
  const token = randomUUID();
  return {
    token,
    /** Whether this process has the lease, or gets it now. */
    take: () =>
      queryable.has(
        `update ${row.table} set lease_token = $1, leased_until = now() + $2 * interval '1 millisecond'
         where ${row.where} and (lease_token = $1 or leased_until is null or leased_until < now())`,
        [token, leaseMs],
      ),
    async release(): Promise<void> {
      const clear = `update ${row.table} set lease_token = null, leased_until = null where lease_token = $1`;
      await queryable.query(clear, [token]);
    },
  };
}
