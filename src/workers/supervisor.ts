import cluster from 'node:cluster';
import type { Config } from '../config.ts';
import { keepsData, type Process, type StartOptions } from '../main.ts';
import { type Closers, openConfiguredDatabase, startEmbedded } from '../open-parts.ts';
import { closeBoth, startOrClose } from '../start-or-close.ts';
import type { Database } from '../storage/database.ts';
import { divideSettings } from './divide-settings.ts';
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
