import { hasCode } from '../error-code.ts';
import { lockNotAvailable, lockWaitMs } from './connection.ts';
import type { Transaction } from './database.ts';

const defaultAskAgainMs = 5_000;

interface LockOptions {
  isShared?: boolean;
  askAgainMs?: number;
  withinMs?: number;
}

/** Takes an advisory lock until the end of the transaction, however long the wait (unlike connection.ts). It retries every few seconds, so that a stopped process does not get it. */
export async function waitForLock(
  tx: Transaction,
  name: string,
  { isShared = false, askAgainMs = defaultAskAgainMs, withinMs }: LockOptions = {},
): Promise<boolean> {
  const kind = isShared ? 'xact_lock_shared' : 'xact_lock';
  const take = `select pg_try_advisory_${kind}(hashtextextended($1, 0)) as taken`;
  if (await tx.value<boolean>(take, [name])) return true;
  await tx.query('savepoint wait_for_lock');
  for (;;) {
    try {
      // Limits only this wait: PostgreSQL evaluates the columns from left to right.
      await tx.query(
        `select set_config('lock_timeout', '${withinMs ?? askAgainMs}', true), pg_advisory_${kind}(hashtextextended($1, 0)),
           set_config('lock_timeout', '${lockWaitMs}', true)`,
        [name],
      );
      return true;
    } catch (error) {
      if (!hasCode(error, lockNotAvailable)) throw error;
      await tx.query('rollback to savepoint wait_for_lock');
      if (withinMs !== undefined) return false;
    }
  }
}
