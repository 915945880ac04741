import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import { keepsData, type Process, type StartOptions } from '../main.ts';
import { type Closers, openConfiguredDatabase, startEmbedded } from '../open-parts.ts';
import { SettingsError } from '../settings.ts';
import { closeBoth, startOrClose } from '../start-or-close.ts';
import type { Database } from '../storage/database.ts';
import { createWorkerPool } from './worker-pool.ts';

// WORKERS processes run the roles instead of one. The supervisor starts the shared parts (the embedded database and the demo's network), keeps that
// many workers running, and stops everything in reverse order. It serves no requests.

/** Connections of the supervisor, which only prepares and watches. */
const ownConnections = 2;

export function startWorkers(
  config: Config,
  { logger, prepare, signal }: Pick<StartOptions, 'logger' | 'prepare' | 'signal'>,
): Promise<Process> {
  const [closers, serverClosers]: [Closers, Closers] = [[], []];
  const close = () => closeBoth(closers, serverClosers);
  return startOrClose(async () => {
    if (!cluster.isPrimary)
      throw new Error(
        'WORKERS must be 1 where another program, such as a process manager, runs the workers.',
      );
    const parts = divideSettings(config);
    const needsDatabase = config.roles.some(keepsData);
    const DATABASE_URL =
      config.DATABASE_URL ??
      (needsDatabase ? await startEmbedded(config, { logger, signal }, serverClosers) : undefined);
    let database: Database | undefined;
    if (prepare && needsDatabase) {
      const own = { ...config, DATABASE_URL, DATABASE_CONNECTIONS: ownConnections };
      database = await openConfiguredDatabase(own, { logger, signal }, { closers, serverClosers });
      await prepare(database);
    }
    const pool = createWorkerPool(
      parts.map((part) => ({ ...part, DATABASE_URL })),
      logger,
    );
    closers.push(() => pool.close());
    return { ...(await pool.start(signal)), database, close };
  }, close);
}

/** Settings whose values are divided among the workers, and the minimum for one worker. Rates are shared instead (http/shared-limits.ts). */
const divided = {
  DATABASE_CONNECTIONS: 2,
  OVERLOAD_WAITING_CONNECTIONS: 1,
  DISCOVER_CONCURRENCY: 2,
  MAX_CONNECTIONS: 1,
  MAX_CONNECTIONS_PER_SOURCE: 1,
  SEARCH_CACHE_PERCENT: 0,
  CRAWL_MEMORY_LIMIT: 1,
} as const;

/**
 * The settings of each worker. Only the first one runs the publisher: only one process may write its directory, and awaited callbacks are in the
 * memory of the process that received the request. It also runs the console, whose inbox is in memory. Both have little to do.
 */
export function divideSettings(config: Config): Config[] {
  const { WORKERS, DATABASE_CONNECTIONS: connections } = config;
  const others = config.roles.filter((role) => role !== 'publisher' && role !== 'console');
  if (others.length > 0 && connections < WORKERS * divided.DATABASE_CONNECTIONS)
    throw new SettingsError(
      `DATABASE_CONNECTIONS=${connections} is too few for WORKERS=${WORKERS}: each worker needs at least ${divided.DATABASE_CONNECTIONS}.`,
    );
  return Array.from({ length: others.length > 0 ? WORKERS : 1 }, (_, index) => ({
    ...config,
    ...partOf(config, index),
    roles: index === 0 ? config.roles : others,
  }));
}

function partOf(config: Config, index: number): Partial<Config> {
  const names = Object.keys(divided) as (keyof typeof divided)[];
  const parts = names.map((name) => {
    const part = Math.floor(config[name] / config.WORKERS);
    const isOneMore = index < config[name] % config.WORKERS;
    return [name, Math.max(divided[name], part + Number(isOneMore))];
  });
  return Object.fromEntries(parts);
}
