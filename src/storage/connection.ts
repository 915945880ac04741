import pg from 'pg';
import { DatabaseUnavailable } from './unavailable.ts';

// How we connect to PostgreSQL, how its types are converted, and what its errors mean for a connection.

/** The server ends the connections of a stopped process before its leases end (work/leases.ts), so that its locks do not block its successor. */
const silentClientMs = 15_000;
/** How long a statement waits for a lock before its transaction is retried. Otherwise, transactions of a stopped process could get the lock one after the other and hold it. */
export const lockWaitMs = 10_000;
/** How often a server checks, during a statement, whether its client is still connected. */
const lostClientCheckMs = 1_000;
const connectTimeoutMs = 10_000;
/** Both sides notice within half a minute that the other machine is gone: until then its locks would block work. */
const keepAlive = { idleSeconds: 10, intervalSeconds: 5, count: 3 };

/** Throws a plain sentence if the address is not one of PostgreSQL. */
export function connectionSettings(url: string, { checksClients = false } = {}): pg.ClientConfig {
  if (!/^(postgres|postgresql|socket):/.test(url) || !URL.canParse(url)) {
    throw new Error('DATABASE_URL must be an address such as postgres://user:password@host:5432/database.');
  }
  return {
    connectionString: url,
    application_name: 'signpost',
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAlive.idleSeconds * 1000,
    options: Object.entries({
      tcp_keepalives_idle: keepAlive.idleSeconds,
      tcp_keepalives_interval: keepAlive.intervalSeconds,
      tcp_keepalives_count: keepAlive.count,
      tcp_user_timeout: silentClientMs,
      ...(checksClients && { client_connection_check_interval: lostClientCheckMs }),
    })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    connectionTimeoutMillis: connectTimeoutMs,
    idle_in_transaction_session_timeout: silentClientMs,
    types: { getTypeParser },
  };
}

/** Makes the server end the statements of a client that is gone; false on Windows, where the server rejects connections with this setting. */
export async function checkClients(client: pg.Client): Promise<boolean> {
  const asked = client.query(`set client_connection_check_interval = ${lostClientCheckMs}`);
  return asked.then(() => true).catch(() => false);
}

/** The server and database of an address, without its secrets. */
export function describeServer(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `PostgreSQL at ${host || searchParams.get('host') || 'the local socket'}${pathname}`;
}

/** The error for the caller: DatabaseUnavailable if the server refuses all statements, and not only this one. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = '' } = error;
  const [, problem] = refusals.find(([prefix]) => code.startsWith(prefix)) ?? [];
  return problem === undefined ? error : new DatabaseUnavailable(error, problem);
}

export const lockNotAvailable = '55P03';

/** By the beginnings of their SQLSTATEs. */
const refusals = [
  ['25006', 'is read-only'],
  ['53100', 'has no space left on its disk'],
  ['53', 'has no resources left'],
  [lockNotAvailable, 'is busy'],
  ['57P', 'is shutting down or starting'],
  ['58030', 'cannot read or write its files'],
] as const;

/** Another transaction has written the same rows since this one began. */
export class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

/** True if a transaction was rolled back because of another one: it may well succeed now. */
export function isTransient(error: unknown): boolean {
  if (error instanceof WriteConflict) return true;
  const cause = error instanceof DatabaseUnavailable ? error.cause : error;
  return cause instanceof pg.DatabaseError && transientStates.includes(cause.code ?? '');
}

const serializationFailure = '40001';
const deadlock = '40P01';
const transientStates = [serializationFailure, deadlock, lockNotAvailable];

const { builtins, arrayParser } = pg.types;
const jsonArrayType = 199;
const bigintArrayType = 1016;

/** `json` columns are returned as text, so that documents stay byte for byte. `bigint` is returned as a number; a value beyond 2^53 as a bigint. */
function getTypeParser(type: number, format: 'text' | 'binary' = 'text'): (value: string) => unknown {
  if (format === 'text') {
    if (type === builtins.JSON) return sameText;
    if (type === builtins.INT8) return parseBigint;
    if (type === jsonArrayType) return (text) => parseArray(text, sameText);
    if (type === bigintArrayType) return (text) => parseArray(text, parseBigint);
  }
  return pg.types.getTypeParser(type, format);
}

function parseBigint(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

function parseArray(text: string, parseItem: (item: string) => unknown): unknown {
  // The declared type belongs to another version: this one returns an object that parses.
  const { create } = arrayParser as unknown as { create(...args: unknown[]): { parse(): unknown } };
  return create(text, parseItem).parse();
}

function sameText(text: string): string {
  return text;
}
