import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../logger.ts';
import { explainUnwritable } from '../explain-unwritable.ts';
import { withFileLock } from '../file-lock.ts';
import { plainReason } from '../first-connection.ts';
import { identifyProcess } from '../process-identity.ts';
import { findBinaries, openDirectories as usualOpenDirectories } from './binaries.ts';
import {
  type Cluster,
  databaseName,
  findCluster,
  makeCluster,
  planCluster,
  rememberCluster,
} from './cluster.ts';
import {
  findPostmaster,
  findServerProcess,
  isFree,
  isRunningOn,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
  urlOf,
} from './postmaster.ts';
import { findServerUser } from './server-user.ts';

// A killed server (by hand or because memory ran out) is started again: its users wait for a moment and continue.

const lookEveryMs = 2_000;
const maxPauseMs = 60_000;

// A real PostgreSQL below the data directory, shared by all processes that use it: the first one starts it, later ones join it, even one left by a
// killed process, and the last one stops it. Starting and stopping happen under a lock. While it has users, it is started again if it was killed.
//
//   <dataDir>/postgres/   cluster.json (place, port, password)   lock/   users/ (one file per process)   server.log   data/

/** Making a cluster and starting a server take a second or two; recovering after a crash may take longer. */
const lockWaitMs = 10 * 60_000;
const sayAfterMs = 3_000;
const abandonWaitMs = 1_000;

export interface EmbeddedPostgres {
  url: string;
  /** Leaves the server, and stops it if it has no other users. */
  close(): Promise<void>;
}

interface EmbeddedOptions {
  dataDir: string;
  logger: Logger;
  /** Additional settings of PostgreSQL, for a server that this call starts. */
  settings?: Record<string, string>;
  /** Where programs and data go if the server's user cannot reach the usual place. */
  openDirectories?: readonly string[];
  /** When aborted, all waits end: files are completed, and a server that is not ready yet is stopped. */
  signal?: AbortSignal;
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = join(resolve(options.dataDir), 'postgres');
  await makeHome(home);
  const say = () => options.logger.info('waiting for another process that starts or stops PostgreSQL …');
  const waiting = setTimeout(say, sayAfterMs);
  const start = async () => {
    clearTimeout(waiting);
    const leave = await registerUser(home);
    try {
      const cluster = await runningCluster(home, options);
      await makeDatabase(cluster);
      const kept = keepRunning(home, cluster, options);
      return {
        url: urlOf(cluster, databaseName),
        async close() {
          await kept.close();
          await close(home, leave, options.logger);
        },
      };
    } catch (error) {
      await leave();
      throw error;
    }
  };
  return withFileLock(join(home, 'lock'), lockWaitMs, start, options.signal).finally(() =>
    clearTimeout(waiting),
  );
}

async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true });
    await access(home, constants.W_OK);
  } catch (error) {
    throw new Error(explainUnwritable(home, error), { cause: error });
  }
}

async function runningCluster(home: string, options: EmbeddedOptions): Promise<Cluster> {
  const { logger, settings = {}, openDirectories = usualOpenDirectories, signal } = options;
  const known = await findCluster(home);
  const running = known && (await findPostmaster(known, logger, signal));
  if (running) return { ...known, port: running.port };

  const user = await findServerUser(known?.dataDirectory);
  const binaries = await findBinaries({ user, copyTo: user ? openDirectories : [home], logger });
  const cluster = known ?? (await planCluster({ home, user, openDirectories, logger }));
  await makeCluster(cluster, binaries, user, { durable: settings.fsync !== 'off' });
  const logFile = join(home, 'server.log');
  const started = await startPostmaster({ cluster, binaries, user, settings, logFile, logger, signal });
  const current = { ...cluster, port: started.port };
  await rememberCluster(home, current);
  logger.info(`started PostgreSQL on ${cluster.dataDirectory}, port ${started.port}`);
  return current;
}

/** On the same port, where its users look for it. Never creates an empty one to replace a deleted one. */
async function startAgain(home: string, { port, dataDirectory }: Cluster, options: EmbeddedOptions) {
  const { logger, signal } = options;
  const requireFiles = async () => {
    const known = await findCluster(home);
    if (known?.dataDirectory === dataDirectory && (await exists(dataDirectory))) return known;
    throw new Error(`Its files in ${dataDirectory} are gone.`);
  };
  const start = async () => {
    const running = await findPostmaster(await requireFiles(), logger, signal);
    if (running?.port === port) return;
    if (running)
      throw new Error(
        `It runs on port ${running.port} now, and this process uses ${port}: restart signpost.`,
      );
    if (!(await isFree(port))) throw new Error(`Another program has taken its port ${port}.`);
    logger.warn('PostgreSQL is gone, because something else killed or stopped it: starting it again');
    await runningCluster(home, options);
  };
  await requireFiles(); // the lock would create the directory again
  await withFileLock(join(home, 'lock'), lockWaitMs, start, signal);
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function makeDatabase(cluster: Cluster): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(cluster, 'postgres') });
  client.on('error', () => undefined); // fails the running statement
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}

async function close(home: string, leave: () => Promise<void>, logger: Logger): Promise<void> {
  if (!(await exists(join(home, 'users')))) return; // everything was deleted
  await withFileLock(join(home, 'lock'), lockWaitMs, async () => {
    await leave();
    if ((await livingUsers(home)) > 0) return;
    const running = await findServer(home);
    if (!running) return;
    await stopPostmaster(running, logger);
    logger.info('stopped PostgreSQL');
  });
}

/** For a process that ends without closing anything: signals a server without other users to end, without waiting for it. */
export async function abandonEmbeddedPostgres(dataDir: string): Promise<void> {
  const home = join(resolve(dataDir), 'postgres');
  await withFileLock(join(home, 'lock'), abandonWaitMs, async () => {
    if ((await livingUsers(home, { besides: identifyProcess(process.pid) })) > 0) return;
    const running = await findServer(home);
    if (running) process.kill(running.pid, 'SIGINT');
  });
}

async function findServer(home: string): Promise<Postmaster | undefined> {
  const cluster = await findCluster(home);
  return cluster && findServerProcess(cluster);
}

/** Each use has a file that names its process; a dead process does not count. */
async function registerUser(home: string): Promise<() => Promise<void>> {
  const users = join(home, 'users');
  await mkdir(users, { recursive: true });
  const file = join(users, randomUUID());
  await writeFile(file, identifyProcess(process.pid) ?? '');
  return () => rm(file, { force: true });
}

async function livingUsers(home: string, { besides }: { besides?: string } = {}): Promise<number> {
  const users = join(home, 'users');
  let living = 0;
  for (const name of await readdir(users)) {
    const identity = await readFile(join(users, name), 'utf8');
    if (identity === besides) continue;
    if (identifyProcess(Number.parseInt(identity, 10)) === identity) living++;
    else await rm(join(users, name), { force: true });
  }
  return living;
}

/** Checks at intervals whether the server runs, and starts it if not; after a failure with growing patience. */
function keepRunning(home: string, cluster: Cluster, options: EmbeddedOptions) {
  const stop = new AbortController();
  const { signal } = stop;

  async function run(): Promise<void> {
    let pauseMs = lookEveryMs;
    for (;;) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (!(await isRunningOn(cluster))) await startAgain(home, cluster, { ...options, signal });
        pauseMs = lookEveryMs;
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        const next = `Next attempt in ${pauseMs / 1_000} s.`;
        options.logger.error(`PostgreSQL is gone and cannot be started again: ${plainReason(error)} ${next}`);
      }
    }
  }

  const running = run();
  return {
    /** Stops checking; started work is finished. */
    async close() {
      stop.abort();
      await running;
    },
  };
}
