import pg from 'pg';
import { describeServer } from './connection.ts';

// Poolers such as PgBouncer are refused: what belongs to a connection would be lost, or be somebody else's. Pools of our own have prepared statements, settings of
// the session that end a stopped process's transactions before its leases (connection.ts), LISTEN, and the number of the server's process, by which a statement
// that takes too long is cancelled (time-limit.ts): a pooler makes up another one.

/** Throws a plain sentence when somebody else greeted us than answers. */
export async function refusePooler(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const { processID } = client as { processID?: number | null };
  if (rows[0]?.pid !== processID) throw new Error(describePooler(url));
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
  return `${describeServer(url)} is behind a connection pooler, such as PgBouncer. Signpost has pools of its own, whose connections must be its own: give the address of PostgreSQL itself, and set DATABASE_CONNECTIONS to what it has room for (docs/operating.md).`;
}
