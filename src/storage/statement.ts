import { hash } from 'node:crypto';
import type pg from 'pg';
import { Sql } from './sql.ts';

type Asked = Plain | [statement: Sql, options?: QueryOptions];
type Plain = [text: string, values?: readonly unknown[], options?: QueryOptions];
type Answer<R> = Promise<{ rows: R[]; rowCount: number }>;

/** Runs a statement, given as its text and the values of its parameters. */
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
