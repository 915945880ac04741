import pg from 'pg';
import { describeServer } from './connection.ts';

// Poolers such as PgBouncer are refused: what belongs to a connection would be lost, or be somebody else's. Pools of our own have prepared statements, settings of
// the session that end a stopped process's transactions before its leases (connection.ts), LISTEN, and the number of the server's process, by which a statement
// that takes too long is cancelled (statement.ts): a pooler makes up another one.

export async function refusePooler(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  if (isPooled(client, rows[0]?.pid)) throw new Error(describePooler(url));
}

/** Whether the server's process that answers (`pg_backend_pid()`) is another one than greeted us. */
export function isPooled(client: pg.ClientBase, pid: number | undefined): boolean {
  return (client as { processID?: number | null }).processID !== pid;
}

const protocolViolation = '08P01';

/** PgBouncer takes no settings of the session with a new connection, unless it is told to ignore them. */
export function isFromPooler(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === protocolViolation &&
    error.message.includes('startup parameter')
  );
}

export function describePooler(url: string): string {
  return `${describeServer(url)} is behind a connection pooler, such as PgBouncer. Signpost has its own connection pools: give the address of PostgreSQL itself, and set DATABASE_CONNECTIONS to the number that it can serve (docs/operating.md).`;
}
