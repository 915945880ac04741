import { type Config, ownConsoleUrl } from './config.ts';
import { createOperationsServer } from './http/operations.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { startEmbeddedPostgres } from './storage/embedded/postgres.ts';
import { openReplicas, type Replicas } from './storage/replicas.ts';

// Opens the parts that the roles of a process share. `closers` close them at the end.

export type Closers = (() => Promise<void>)[];

interface OpenOptions {
  logger: Logger;
  /** If aborted, nothing more is started, and its reason is thrown. */
  signal?: AbortSignal;
  metrics?: Metrics;
}

/** Throws a plain sentence if the connection fails. `serverClosers` stop the embedded server, after everything else is closed. */
export async function openConfiguredDatabase(
  config: Config,
  { logger, signal, metrics }: OpenOptions,
  { closers, serverClosers }: { closers: Closers; serverClosers: Closers },
): Promise<Database> {
  const url = config.DATABASE_URL ?? (await startEmbedded(config, { logger, signal }, serverClosers));
  signal?.throwIfAborted();
  const database = await openDatabase({
    ...{ url, logger, metrics, waitForServer: true, signal },
    maxConnections: config.DATABASE_CONNECTIONS,
    transactionMs: config.TRANSACTION_LIMIT_SECONDS * 1000,
  });
  closers.push(() => database.close());
  return database;
}

/** Returns the address of the embedded server, which is stopped at the end unless it has other users. */
export async function startEmbedded(
  { DATA_DIR: dataDir }: Config,
  { logger, signal }: OpenOptions,
  closers: Closers,
): Promise<string> {
  const embedded = await startEmbeddedPostgres({ dataDir, logger, signal });
  closers.push(() => embedded.close());
  return embedded.url;
}

export async function openConfiguredReplicas(
  config: Config,
  tools: { database: Database; logger: Logger; metrics: Metrics },
): Promise<Replicas | undefined> {
  if (config.DATABASE_READ_URL.length === 0) return undefined;
  return openReplicas({
    ...{ ...tools, urls: config.DATABASE_READ_URL },
    maxConnections: config.DATABASE_CONNECTIONS,
    statementMs: config.DISCOVER_TIMEOUT_MS,
  });
}

/** The address of OPERATIONS_PORT, if set. It is opened first, so that monitoring sees a process that waits for its database. */
export function openOperations(config: Config, logger: Logger, closers: Closers) {
  if ((config.OPERATIONS_PORT ?? 0) === 0) return undefined;
  const operations = createOperationsServer(logger, ownConsoleUrl(config));
  closers.push(() => operations.close());
  return operations;
}
