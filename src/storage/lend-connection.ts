import type pg from 'pg';
import { NoTurn } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { within } from '../within.ts';
import { asUnavailable } from './connection.ts';
import { DatabaseUnavailable } from './unavailable.ts';

// Connections of a pool, lent for one piece of work each.

export type LendingPool = pg.Pool & {
  /** Gets the wait for a connection, if none was idle. */
  onWait?(seconds: number): void;
};

/** Lends a connection, which returns to the pool without a transaction, or, if it broke, not at all. */
export async function withConnection<T>(
  pool: LendingPool,
  work: (client: pg.PoolClient) => Promise<T>,
  waitMs?: number,
): Promise<T> {
  const client = await (waitMs === undefined ? lend(pool) : lendWithin(pool, waitMs));
  let broken: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    await client.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw broken && !(error instanceof ProtocolError) ? new DatabaseUnavailable(error) : asUnavailable(error);
  } finally {
    client.release(broken);
  }
}

async function lend(pool: LendingPool): Promise<pg.PoolClient> {
  const askedAt = pool.onWait && pool.idleCount <= pool.waitingCount ? performance.now() : undefined;
  try {
    return await pool.connect();
  } catch (error) {
    throw new DatabaseUnavailable(error);
  } finally {
    if (askedAt !== undefined) pool.onWait?.((performance.now() - askedAt) / 1000);
  }
}

/** A connection that comes too late is returned at once. An idle one comes at once: no timer is needed. */
async function lendWithin(pool: LendingPool, waitMs: number): Promise<pg.PoolClient> {
  if (pool.idleCount > pool.waitingCount) return lend(pool);
  const lent = lend(pool);
  return within(waitMs, lent, () => {
    lent.then((client) => client.release()).catch(() => undefined);
    return new NoTurn(`no connection became free within ${waitMs} ms`);
  });
}
