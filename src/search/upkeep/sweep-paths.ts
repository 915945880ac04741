import { hasCode } from '../../error-code.ts';
import { lockNotAvailable } from '../../storage/connection.ts';
import type { Database } from '../../storage/database.ts';

/**
 * Deletes the numbers of paths under which no geometry is left. A transaction that has read the number of a path holds a lock on the table until its end, as every
 * statement of PostgreSQL takes one: so nobody is about to use a path while the table is locked here. Where the lock is not to be had at once, the next sweep tries again.
 */
export async function sweepPaths(database: Database, index: string): Promise<number> {
  const unused = `${index}.geometry_path as path where not exists (select from ${index}.geometry where path_id = path.id)`;
  const { rowCount } = await database.query(`select from ${unused} limit 1`);
  if (rowCount === 0) return 0;
  try {
    return await database.transaction(async (tx) => {
      await tx.query(`set local lock_timeout = ${lockWaitMs}`);
      await tx.query(`lock table ${index}.geometry_path in access exclusive mode`).catch((error: unknown) => {
        throw hasCode(error, lockNotAvailable) ? new PathsInUse() : error;
      });
      return (await tx.query(`delete from ${unused}`)).rowCount;
    });
  } catch (error) {
    if (error instanceof PathsInUse) return 0;
    throw error;
  }
}

/** An error of PostgreSQL would have the transaction tried again at once. */
class PathsInUse extends Error {}

/** Others wait behind us meanwhile. */
const lockWaitMs = 100;
