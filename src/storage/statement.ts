import { createHash } from 'node:crypto';
import type pg from 'pg';

export interface Queryable {
  query<R extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
    options?: QueryOptions,
  ): Promise<{ rows: R[]; rowCount: number }>;
}

export interface QueryOptions {
  /** Each connection keeps the statement's plan: for texts of which there are few, and which are asked often. */
  prepared?: boolean;
  /** A statement that takes longer is ended in the server, and fails with DeadlineExceeded; with NoTurn where no connection became free. */
  timeoutMs?: number;
  /** Not answered by a replica, where searches read from some (replicas.ts). */
  onPrimary?: boolean;
}

/** Runs a statement on a connection. `prepared`: the connection keeps its plan. `readTimeoutMs`: it fails after that, and the connection is of no use any more. */
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

/** PostgreSQL takes names of up to 63 characters. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url');
  statementNames.set(text, name);
  return name;
}

const statementNames = new Map<string, string>();
