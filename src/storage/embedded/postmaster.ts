import { type StdioOptions, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../logger.ts';
import { commandOf, identifyProcess } from '../process-identity.ts';
import type { Binaries } from './binaries.ts';
import { type Cluster, explainFailure, serverRole } from './cluster.ts';
import { runAs, type ServerUser } from './server-user.ts';

// The running server of a cluster: finds, starts and stops it. It runs detached, so that it outlives a killed process of ours.

const pollMs = 25;
const maxPollMs = 1_000;
/** A stopped server accepts connections, but never answers. */
const knockMs = 5_000;
/** Long: after a crash the server first replays its log. The wait ends if it dies. */
const startTimeoutMs = 10 * 60_000;
const sayEveryMs = 10_000;
const stopTimeoutMs = 60_000;
const maxStartAttempts = 20;
const megabyte = 1024 ** 2;
const portTaken = 'Address already in use';
const passingFaults = [portTaken, 'pre-existing shared memory block', 'postmaster.pid" already exists'];

export interface Postmaster {
  pid: number;
  port: number;
}

/** The running server of this cluster, if there is one. A `postmaster.pid` that names another process by now is removed, because PostgreSQL would refuse to start with it. */
export async function findPostmaster(cluster: Cluster, logger: Logger, signal?: AbortSignal) {
  const { dataDirectory } = cluster;
  const deadline = Date.now() + startTimeoutMs;
  // A live server that does not answer is asked less and less often.
  for (let pauseMs = pollMs; Date.now() < deadline; pauseMs = Math.min(pauseMs * 1.2, maxPollMs)) {
    const recorded = await readPidFile(dataDirectory);
    if (!recorded || identifyProcess(recorded.pid) === undefined) return undefined;

    const answer = recorded.ready ? await knock(cluster, recorded.port) : 'none';
    if (answer === 'welcome') return recorded;
    const command = commandOf(recorded.pid) ?? '';
    if (!isServerOf(dataDirectory, command)) {
      logger.warn(
        `removed a stale postmaster.pid from ${dataDirectory}: process ${recorded.pid} is "${command}"`,
      );
      await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
      return undefined;
    }
    if (answer === 'refusal') {
      throw new Error(`PostgreSQL on ${dataDirectory} does not know the password that is kept for it.`);
    }
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    signal?.throwIfAborted();
  }
  throw new Error(`PostgreSQL runs on ${dataDirectory}, but does not answer.`);
}

export async function findServerProcess({ dataDirectory }: Cluster): Promise<Postmaster | undefined> {
  const recorded = await readPidFile(dataDirectory);
  return recorded && isServerOf(dataDirectory, commandOf(recorded.pid) ?? '') ? recorded : undefined;
}

function isServerOf(dataDirectory: string, command: string): boolean {
  return command.includes('postgres') && command.includes(dataDirectory);
}

export async function isRunningOn({ dataDirectory, port }: Cluster): Promise<boolean> {
  const recorded = await readPidFile(dataDirectory);
  return recorded !== undefined && recorded.port === port && identifyProcess(recorded.pid) !== undefined;
}

async function readPidFile(dataDirectory: string): Promise<(Postmaster & { ready: boolean }) | undefined> {
  const text = await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8').catch(() => undefined);
  // The lines are: process id, data directory, start time, port, socket directory, address, shared memory, status.
  const lines = text?.split('\n').map((line) => line.trim()) ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return pid > 0 ? { pid, port, ready: lines[7] === 'ready' } : undefined;
}

/** Only the server of this cluster accepts its password. */
async function knock(cluster: Cluster, port: number): Promise<'welcome' | 'refusal' | 'none'> {
  const connectionString = urlOf({ ...cluster, port }, 'postgres');
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: knockMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return 'welcome';
  } catch (error) {
    const wrongPassword = error instanceof pg.DatabaseError && error.code === '28P01';
    return wrongPassword ? 'refusal' : 'none';
  } finally {
    await client.end().catch(() => undefined);
  }
}

interface StartOptions {
  cluster: Cluster;
  binaries: Binaries;
  user: ServerUser | undefined;
  settings: Record<string, string>;
  logFile: string;
  logger: Logger;
  signal?: AbortSignal;
}

/** Starts the server, on its previous port if that is free: processes that outlive a crash of it look for it there. */
export async function startPostmaster(options: StartOptions): Promise<Postmaster> {
  const { cluster, binaries, user, settings, logFile, logger, signal } = options;
  const what = `PostgreSQL did not start on ${cluster.dataDirectory}`;
  let output = '';
  for (let attempt = 1; attempt <= maxStartAttempts; attempt++) {
    const portWasTaken = output.includes(portTaken) || !(await isFree(cluster.port));
    const port = portWasTaken ? await listenOnce(0) : cluster.port;
    const server = { ...defaultSettings(), ...settings, port: String(port) };
    const log = await open(logFile, 'w', 0o600);
    const args = Object.entries(server).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const stdio: StdioOptions = ['ignore', log.fd, log.fd];
    const how = { ...runAs(user), detached: true, stdio };
    const child = spawn(binaries.postgres, ['-D', cluster.dataDirectory, ...args], how);
    let fault: string | undefined;
    child.once('error', (error) => {
      fault = `FATAL: ${error.message}`;
    });
    child.once('exit', (code, killedBy) => {
      fault = `ended with ${killedBy ?? code}`;
    });
    child.unref();
    await log.close();
    const { pid = 0 } = child;
    try {
      if (await isReady(options, pid, () => fault !== undefined)) return { pid, port };
    } catch (error) {
      // It has no users yet; a process that waits for it starts it again.
      if (signal?.aborted && pid > 0) await stopPostmaster({ pid, port }, logger);
      throw error;
    }

    output = `${await readFile(logFile, 'utf8')}\n${fault}`;
    // Another program just took the port, processes of a killed server are still ending, or a killed process of ours had started one that only shows
    // now: try again.
    if (!passingFaults.some((passing) => output.includes(passing))) break;
    await delay(attempt * pollMs);
    const other = await findPostmaster(cluster, logger, signal);
    if (other) return other;
  }
  throw new Error(explainFailure(what, output));
}

async function isReady({ cluster, logger, signal }: StartOptions, pid: number, hasEnded: () => boolean) {
  const started = Date.now();
  for (let said = started; !hasEnded(); await delay(pollMs)) {
    const recorded = await readPidFile(cluster.dataDirectory);
    if (recorded?.ready && recorded.pid === pid) return true;
    signal?.throwIfAborted();
    if (Date.now() - started > startTimeoutMs) {
      throw new Error(`PostgreSQL in ${cluster.dataDirectory} does not become ready.`);
    }
    if (Date.now() - said > sayEveryMs) {
      said = Date.now();
      logger.info('PostgreSQL is recovering from its last stop …');
    }
  }
  return false;
}

/** Stops the server: disconnects its clients, and writes everything to disk. */
export async function stopPostmaster({ pid }: Postmaster, logger: Logger): Promise<void> {
  const identity = identifyProcess(pid);
  const isRunning = () => identity !== undefined && identifyProcess(pid) === identity;
  if (isRunning()) process.kill(pid, 'SIGINT');
  for (const deadline = Date.now() + stopTimeoutMs; isRunning(); await delay(pollMs)) {
    if (Date.now() < deadline) continue;
    logger.warn('PostgreSQL takes too long to stop: it is ended at once, and will recover at its next start');
    process.kill(pid, 'SIGQUIT');
    return;
  }
}

/** Durable and modest: a small machine, and data that fits into the page cache. */
function defaultSettings(): Record<string, string> {
  const cacheMb = Math.max(256, Math.floor(totalmem() / megabyte / 2));
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '256MB',
    effective_cache_size: `${cacheMb}MB`,
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    // After a crash, all of it may have to be replayed: two gigabytes took over a minute on two busy cores.
    max_wal_size: '256MB',
    random_page_cost: '1.1',
    fsync: 'on',
    synchronous_commit: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // Compiling a query takes longer than running one of ours, and a second core belongs to the next request.
    jit: 'off',
    max_parallel_workers_per_gather: '0',
  };
}

export async function isFree(port: number): Promise<boolean> {
  return port > 0 && (await listenOnce(port).catch(() => 0)) === port;
}

/** Port 0: any free one. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}

export function urlOf({ password, port }: Cluster, database: string): string {
  return `postgres://${serverRole}:${password}@127.0.0.1:${port}/${database}`;
}
