import { hash } from 'node:crypto';
import type pg from 'pg';
import { DeadlineExceeded, NoTurn } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { within } from '../within.ts';
import { asUnavailable } from './connection.ts';
import { Sql } from './sql.ts';
import { DatabaseUnavailable } from './unavailable.ts';

type Asked = Plain | [statement: Sql, options?: QueryOptions];
type Plain = [text: string, values?: readonly unknown[], options?: QueryOptions];
type Answer<R> = Promise<{ rows: R[]; rowCount: number }>;

export type Run = <R extends object = Record<string, unknown>>(...asked: Plain) => Answer<R>;

export interface Queryable {
  query<R extends object = Record<string, unknown>>(...asked: Asked): Answer<R>;
  rows<R extends object>(...asked: Asked): Promise<R[]>;
  first<R extends object>(...asked: Asked): Promise<R | undefined>;
  /** The same, if there is certainly one. */
  one<R extends object>(...asked: Asked): Promise<R>;
  /** The only column of every row. */
  column<T>(...asked: Asked): Promise<T[]>;
  /** The only column of the first row; undefined without a row. */
  value<T>(...asked: Asked): Promise<T>;
  count(...asked: Asked): Promise<number>;
  /** Whether it finds, or changes, a row. */
  has(...asked: Asked): Promise<boolean>;
}

export function createQueryable(run: Run): Queryable {
  const query = <R extends object>(...[statement, ...rest]: Asked) =>
    statement instanceof Sql
      ? run<R>(statement.text, statement.values, ...(rest as [QueryOptions?]))
      : run<R>(statement, ...(rest as [unknown[]?, QueryOptions?]));
  const first = async <R extends object>(...asked: Asked) => (await query<R>(...asked)).rows[0];
  const column = async <T>(...asked: Asked) =>
    (await query(...asked)).rows.map((row) => Object.values(row)[0] as T);
  return {
    query,
    rows: async <R extends object>(...asked: Asked) => (await query<R>(...asked)).rows,
    first,
    async one<R extends object>(...asked: Asked) {
      const row = await first<R>(...asked);
      if (row === undefined) throw new Error('a statement returned no row');
      return row;
    },
    column,
    value: async <T>(...asked: Asked) => (await column<T>(...asked))[0] as T,
    count: async (...asked) => (await query(...asked)).rowCount,
    has: async (...asked) => (await query(...asked)).rowCount > 0,
  };
}

export interface QueryOptions {
  /** Each connection caches the statement's plan: for a small set of frequent texts. */
  prepared?: boolean;
  /** A slower statement is ended in the server, and fails with DeadlineExceeded, or with NoTurn if no connection became free. */
  timeoutMs?: number;
  /** Never answered by a replica (replicas.ts). */
  onPrimary?: boolean;
}

/** Runs a statement on a connection. `prepared`: the connection caches its plan. `readTimeoutMs`: it fails after that, and the connection is no longer usable. */
export async function runStatement<R extends object>(
  client: pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  { prepared = false, readTimeoutMs }: { prepared?: boolean; readTimeoutMs?: number } = {},
): Promise<{ rows: R[]; rowCount: number }> {
  const name = prepared ? statementName(text) : undefined;
  const statement: pg.QueryConfig & { query_timeout?: number } = { text, values: [...values], name };
  if (readTimeoutMs !== undefined) statement.query_timeout = readTimeoutMs;
  const { rows, rowCount } = await client.query<R>(statement);
  return { rows, rowCount: rowCount ?? 0 };
}

/** PostgreSQL accepts names of up to 63 characters. */
function statementName(text: string): string {
  const name = statementNames.get(text) ?? hash('sha256', text, 'base64url');
  statementNames.set(text, name);
  return name;
}

const statementNames = new Map<string, string>();

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
export function cancelAfter(client: pg.PoolClient, apart: Queryable, timeoutMs: number, onLate: () => void) {
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
