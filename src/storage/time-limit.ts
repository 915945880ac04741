import type pg from 'pg';
import { DeadlineExceeded } from '../fair-turns.ts';
import { type Queryable, type QueryOptions, runStatement } from './statement.ts';

// Ends slow statements and transactions in the server, over another connection.

/** A statement whose time limit, if any, starts now and includes the wait for its connection. */
export function startTime<R extends object>(
  apart: Queryable,
  text: string,
  values: readonly unknown[] | undefined,
  options: QueryOptions = {},
): (client: pg.PoolClient) => Promise<{ rows: R[]; rowCount: number }> {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return (client) => runStatement(client, text, values, options);
  const end = performance.now() + timeoutMs;
  return async (client) => {
    let isLate = false;
    const limit = cancelAfter(client, apart, end - performance.now(), () => {
      isLate = true;
    });
    try {
      return await runStatement<R>(client, text, values, options);
    } catch (error) {
      throw isLate ? new DeadlineExceeded('a statement took too long', { cause: error }) : error;
    } finally {
      await limit.clear();
    }
  };
}

/** Cancels a connection's statement after a time. Return the connection only after `clear` has resolved: the cancellation may be in flight. */
export function cancelAfter(
  client: pg.PoolClient,
  apart: Queryable,
  timeoutMs: number,
  onLate: () => void,
): { clear(): Promise<unknown> } {
  const { processID } = client as { processID?: number };
  let cancelled: Promise<unknown> | undefined;
  const timer = setTimeout(() => {
    onLate();
    cancelled = apart.query('select pg_cancel_backend($1)', [processID]).catch(() => undefined);
  }, timeoutMs);
  return {
    clear() {
      clearTimeout(timer);
      return Promise.resolve(cancelled);
    },
  };
}
