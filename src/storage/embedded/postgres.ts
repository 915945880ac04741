import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
  startPostmaster,
  stopPostmaster,
  urlOf,
} from './postmaster.ts';
import { findServerUser } from './server-user.ts';

// A server that was killed, by hand or because memory ran out, is started again: its users wait for a moment and go on.

const lookEveryMs = 2_000;
const maxPauseMs = 60_000;

// A real PostgreSQL below the data directory, shared by all processes that use it: the first one starts it, a later one joins it, also one
// that a killed process left behind, and the last one stops it. Starting and stopping happen under a lock. As long as somebody uses it, it
// is started again when it was killed.
//
//   <dataDir>/postgres/   cluster.json (place, port, password)   lock/   users/ (one file per process)   server.log   data/

/** Making a cluster and starting a server take a second or two; recovering after a crash may take longer. */
const lockWaitMs = 10 * 60_000;
const sayAfterMs = 3_000;
const abandonWaitMs = 1_000;

export interface EmbeddedPostgres {
  url: string;
  /** Leaves the server, and stops it when nobody else uses it. */
  close(): Promise<void>;
}

interface EmbeddedOptions {
  dataDir: string;
  logger: Logger;
  /** Settings of PostgreSQL on top of ours, for a server that this call starts. */
  settings?: Record<string, string>;
  /** Where programs and data go when the server's user cannot reach the usual place. */
  openDirectories?: readonly string[];
  /** Aborted, nothing is waited for any more: files are made to their end, and a server that is not ready yet is stopped. */
  signal?: AbortSignal;
}

export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = join(resolve(options.dataDir), 'postgres');
  await makeHome(home);
  const waiting = setTimeout(
    () => options.logger.info('waiting for another process that starts or stops PostgreSQL …'),
    sayAfterMs,
  );
  const start = async () => {
    clearTimeout(waiting);
    const leave = await registerUser(home);
    try {
      const cluster = await runningCluster(home, options);
      await makeDatabase(cluster);
      const kept = keepRunning(
        {
          isRunning: () => isRunningOn(cluster),
          start: (signal) => startAgain(home, cluster, { ...options, signal }),
        },
        options.logger,
      );
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

/** On the same port: this is where those who use it look for it. Never an empty one in the place of one that was deleted. */
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

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function makeDatabase(cluster: Cluster): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(cluster, 'postgres') });
  client.on('error', () => undefined); // fails the statement under way
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}

async function close(home: string, leave: () => Promise<void>, logger: Logger): Promise<void> {
  if (!(await exists(join(home, 'users')))) return; // somebody has deleted it all
  await withFileLock(join(home, 'lock'), lockWaitMs, async () => {
    await leave();
    if ((await livingUsers(home)) > 0) return;
    await stopCluster(home, logger);
  });
}

/** For a process that ends without closing anything: tells a server that has no other users to end, without waiting for it. */
export async function abandonEmbeddedPostgres(dataDir: string): Promise<void> {
  const home = join(resolve(dataDir), 'postgres');
  await withFileLock(join(home, 'lock'), abandonWaitMs, async () => {
    if ((await livingUsers(home, { besides: identifyProcess(process.pid) })) > 0) return;
    const cluster = await findCluster(home);
    const running = cluster && (await findServerProcess(cluster));
    if (running) process.kill(running.pid, 'SIGINT');
  });
}

async function stopCluster(home: string, logger: Logger): Promise<void> {
  const cluster = await findCluster(home);
  const running = cluster && (await findServerProcess(cluster));
  if (!running) return;
  await stopPostmaster(running, logger);
  logger.info('stopped PostgreSQL');
}

/** Each use has a file that names its process; a process that died does not count any more. */
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

/** Looks at intervals whether the server runs, and starts it where it does not; after a failure with growing patience. */
function keepRunning(
  { isRunning, start }: { isRunning(): Promise<boolean>; start(signal: AbortSignal): Promise<void> },
  logger: Logger,
) {
  const stop = new AbortController();
  const { signal } = stop;

  async function run(): Promise<void> {
    let pauseMs = lookEveryMs;
    for (;;) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (!(await isRunning())) await start(signal);
        pauseMs = lookEveryMs;
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        const next = `Next attempt in ${pauseMs / 1_000} s.`;
        logger.error(`PostgreSQL is gone and cannot be started again: ${plainReason(error)} ${next}`);
      }
    }
  }

  const running = run();
  return {
    /** Looks at no more; what is begun is finished. */
    async close() {
      stop.abort();
      await running;
    },
  };
}
