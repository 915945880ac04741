import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Metrics } from '../metrics.ts';
import { within } from '../within.ts';
import { connectionSettings, describeServer, isTransient, lockWaitMs } from './connection.ts';
import type { FirstConnectionOptions } from './first-connection.ts';
import { createHints, type Listening } from './hints.ts';
import { migrate } from './migrate.ts';
import {
  cancelAfter,
  createQueryable,
  type LendingPool,
  type Queryable,
  type Run,
  runStatement,
  startTime,
  withConnection,
} from './statement.ts';
import { DatabaseUnavailable } from './unavailable.ts';

export { WriteConflict } from './connection.ts';
export type { Queryable, QueryOptions } from './statement.ts';

// The only access to PostgreSQL: a pool, transactions that are repeated after a conflict, and hints.

const defaultConnections = 20;
const defaultTransactionMs = 300_000;
/** Separate connections for short statements, which must not wait for transactions. */
const connectionsApart = 2;
/** How many times a transaction is tried if the database rolls it back because of another one. */
const maxTransactionAttempts = 6;
const firstRepeatMs = 10;
/** A request that waited this long for a connection gets an error. */
const connectionWaitMs = 30_000;
const pingTimeoutMs = 5_000;
/** A connection caches its tables and planned statements; a new one needs fifty milliseconds of processor time for that. */
const idleConnectionMs = 10 * 60_000;

declare const insideTransaction: unique symbol;

export interface Transaction extends Queryable {
  readonly [insideTransaction]: true;
  /** Statements that commit at once, for rows that are only ever added, such as a number for a word: otherwise two transactions that add the same would wait for each other. */
  readonly apart: Queryable;
  /** Wakes the listeners of a channel, in every process, after this transaction has committed. Only a hint: it can get lost. */
  hint(channel: string): void;
}

interface TransactionOptions {
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /** Maximum wait for a connection. */
  waitMs?: number;
}

export interface Database extends Queryable {
  /** A new object after a lost connection: an older state of the database may have been restored, which invalidates caches. */
  readonly origin: object;
  /** Its address, with its secrets: for threads, which need separate connections. */
  readonly url: string;
  /** Short statements that do not wait for the connections of requests and transactions. */
  readonly apart: Queryable;
  /** Runs the work in a transaction, again if the database rolled it back because of another one: it must be repeatable. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Wakes the listeners of a channel, in every process. Only a hint: it can get lost. */
  hint(channel: string): void;
  /** Hints have an empty payload. One comes after every reconnect, because some may have been missed. */
  listen(channel: string, onHint: (payload: string) => void): Listening;
  /** Rejects with a plain sentence while the database is unreachable or accepts no writes. */
  ping(): Promise<void>;
  /** The number of callers that wait for a connection: the measure of overload. */
  waiting(): number;
  close(): Promise<void>;
}

interface DatabaseLimits {
  maxConnections?: number;
  /** A longer transaction is rolled back: readers of the change log of the index rely on that. */
  transactionMs?: number;
  metrics?: Metrics;
}

/** Connects, migrates the schema, and returns the database; throws a plain sentence if it cannot. */
export async function openDatabase(options: FirstConnectionOptions & DatabaseLimits): Promise<Database> {
  const { url, logger, maxConnections = defaultConnections, transactionMs = defaultTransactionMs } = options;
  const server = await migrate(options);

  const settings = {
    ...connectionSettings(url, server),
    lock_timeout: lockWaitMs,
    connectionTimeoutMillis: connectionWaitMs,
    idleTimeoutMillis: idleConnectionMs,
  };
  const pool: LendingPool = new pg.Pool({ ...settings, max: maxConnections });
  if (options.metrics) observePool(pool, options.metrics);
  let origin = {};
  const lost = (error: Error) => {
    origin = {};
    logger.warn({ reason: error.message }, 'lost a connection to PostgreSQL');
  };
  // The pool reports an idle connection that breaks; a lent one reports itself. Without a listener, either ends the process.
  const listened = (opened: pg.Pool) =>
    opened.on('error', lost).on('connect', (client) => client.on('error', lost));
  listened(pool);
  // The holder of a connection for a transaction must not wait for another one of the same pool.
  const poolApart = listened(new pg.Pool({ ...settings, max: connectionsApart }));
  const apart = createQueryable((text, values) =>
    withConnection(poolApart, (client) => runStatement(client, text, values)),
  );
  const hints = createHints(url, logger);
  /** The database was unavailable since the last successful ping. */
  let doubtful = false;
  const watched = async <T>(work: (client: pg.PoolClient) => Promise<T>, waitMs?: number): Promise<T> => {
    try {
      return await withConnection(pool, work, waitMs);
    } catch (error) {
      doubtful ||= error instanceof DatabaseUnavailable;
      throw error;
    }
  };

  return {
    url,
    apart,
    ...createQueryable((text, values, options) =>
      watched(startTime(apart, text, values, options), options?.timeoutMs),
    ),

    async transaction(work, { isolation = 'read committed', waitMs } = {}) {
      for (let attempt = 1; ; attempt++) {
        const channels = new Set<string>();
        try {
          const result = await watched(
            (client) => runTransaction(client, { isolation, channels, apart, limitMs: transactionMs }, work),
            waitMs,
          );
          hints.send(channels);
          return result;
        } catch (error) {
          if (!isTransient(error) || attempt === maxTransactionAttempts) throw error;
          await delay(Math.random() * firstRepeatMs * 2 ** attempt);
        }
      }
    },

    get origin() {
      return origin;
    },
    hint: (channel) => hints.send([channel]),
    listen: hints.listen,
    ping: () =>
      within(
        pingTimeoutMs,
        watched(async (client) => {
          await checkWrites(client, { thoroughly: doubtful });
          doubtful = false;
        }),
        () => new Error(`PostgreSQL did not answer within ${pingTimeoutMs / 1000} s`),
      ),
    waiting: () => pool.waitingCount,

    async close() {
      await hints.close();
      await Promise.all([pool.end(), poolApart.end()]);
      logger.debug(`closed the connections to ${describeServer(url)}`);
    },
  };
}

async function runTransaction<T>(
  client: pg.PoolClient,
  { isolation, channels, apart, limitMs }: TransactionRun,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let end: Error | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const tx = {
    // One statement after the other, even if they are issued together.
    ...createQueryable(<R extends object>(...[text, values, options]: Parameters<Run>) => {
      if (end) return Promise.reject(end);
      const run = startTime<R>(apart, text, values, options);
      const statement = last.then(() => run(client));
      last = statement.catch(() => undefined);
      return statement;
    }),
    hint: (channel: string) => void channels.add(channel),
    apart,
  } as Transaction;

  await client.query(`begin isolation level ${isolation}`);
  const limit = cancelAfter(client, apart, limitMs, () => {
    end = new Error(`a transaction took longer than ${limitMs / 1000} s and was rolled back`);
  });
  try {
    const result = await work(tx);
    await last;
    if (end) throw end;
    const { command } = await client.query('commit');
    // After a failed statement whose error was swallowed, PostgreSQL answers COMMIT with a silent ROLLBACK.
    if (command !== 'COMMIT')
      throw new Error('the transaction was rolled back: one of its statements failed');
    return result;
  } catch (error) {
    throw end ?? error;
  } finally {
    end ??= new Error('this transaction is over');
    await last;
    await limit.clear();
  }
}

interface TransactionRun {
  isolation: string;
  /** Notified after the commit. */
  channels: Set<string>;
  apart: Queryable;
  limitMs: number;
}

/** A setting shows whether the server is read-only. Free disk space shows only when a table is written, which is too expensive for every ping. */
async function checkWrites(client: pg.PoolClient, { thoroughly }: { thoroughly: boolean }): Promise<void> {
  const { rows } = await client.query<{ read_only: string }>(
    "select current_setting('transaction_read_only') as read_only",
  );
  if (rows[0]?.read_only === 'on') throw new DatabaseUnavailable(undefined, 'is read-only');
  if (!thoroughly) return;
  await client.query('begin');
  await client.query(
    'create temporary table space_left on commit drop as select repeat(md5(i::text), 60) from generate_series(1, 256) as i',
  );
  await client.query('rollback');
}

/** Statements that share one time limit. */
export function withinTime(queryable: Queryable, remainingMs: () => number): Queryable {
  return createQueryable((text, values, options) =>
    queryable.query(text, values, { ...options, timeoutMs: Math.max(1, remainingMs()) }),
  );
}

/** Measures the use of a pool's connections, and the wait for them. */
function observePool(pool: LendingPool, metrics: Metrics): void {
  const connections = metrics.gauge(
    'signpost_database_connections',
    'Connections to PostgreSQL, in use or idle',
    ['state'],
    {
      aggregator: 'sum',
      collect() {
        connections.set({ state: 'lent' }, pool.totalCount - pool.idleCount);
        connections.set({ state: 'idle' }, pool.idleCount);
      },
    },
  );
  const waiting = metrics.gauge(
    'signpost_database_waiting',
    'Pieces of work that wait for a connection to PostgreSQL',
    [],
    {
      aggregator: 'sum',
      collect() {
        waiting.set(pool.waitingCount);
      },
    },
  );
  const waits = metrics.histogram(
    'signpost_database_wait_seconds',
    'Time spent waiting for a connection to PostgreSQL, if none was idle',
  );
  pool.onWait = (seconds) => waits.observe(seconds);
}
