import pg from 'pg';
import { DatabaseUnavailable } from './unavailable.ts';

// How we connect to PostgreSQL, which of its types become which of ours, and what its errors mean for a connection.

/** The server ends the connections of a process that stands still before its leases end (work/leases.ts), so that its successor meets none of its locks. */
const silentClientMs = 15_000;
/** How long a statement waits for a lock before its transaction is tried again. Transactions of a stopped process could otherwise get the lock one after the other, and hold it. */
export const lockWaitMs = 10_000;
/** How often a server looks, in the midst of a statement, whether somebody still waits for it. */
const lostClientCheckMs = 1_000;
const connectTimeoutMs = 10_000;
/** Both sides find out within half a minute that the other machine is gone: until then its locks would keep work from others. */
const keepAlive = { idleSeconds: 10, intervalSeconds: 5, count: 3 };

/** Throws a plain sentence when the address is not one of PostgreSQL. */
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

/** Lets the server end the statements of a client that is gone; false on Windows, where the server refuses connections that ask for it. */
export async function checkClients(client: pg.Client): Promise<boolean> {
  const asked = client.query(`set client_connection_check_interval = ${lostClientCheckMs}`);
  return asked.then(
    () => true,
    () => false,
  );
}

/** The server and database of an address, without its secrets. */
export function describeServer(url: string): string {
  const { host, pathname, searchParams } = new URL(url);
  return `PostgreSQL at ${host || searchParams.get('host') || 'the local socket'}${pathname}`;
}

/** The error as it concerns a caller: DatabaseUnavailable where the server refuses whatever is asked of it, and not this one statement. */
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

/** True when a transaction was undone for the sake of another one: it may well succeed now. */
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

/** `json` columns come as text, so that documents stay byte for byte. `bigint` comes as a number; a value beyond 2^53 as a bigint. */
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
  // The declared type is that of another version: this one returns an object that parses.
  const { create } = arrayParser as unknown as { create(...args: unknown[]): { parse(): unknown } };
  return create(text, parseItem).parse();
}

function sameText(text: string): string {
  return text;
}
