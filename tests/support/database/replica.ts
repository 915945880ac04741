import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { hasCode } from '../../../src/error-code.ts';
import { silentLogger } from '../../../src/logger.ts';
import { findBinaries, openDirectories } from '../../../src/storage/embedded/binaries.ts';
import { type Cluster, databaseName, findCluster } from '../../../src/storage/embedded/cluster.ts';
import { startEmbeddedPostgres } from '../../../src/storage/embedded/postgres.ts';
import {
  findPostmaster,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
  urlOf,
} from '../../../src/storage/embedded/postmaster.ts';
import { findServerUser } from '../../../src/storage/embedded/server-user.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import type { Body } from '../network/actor.ts';
import { testServerPrefix } from './database-server.ts';

// Separate PostgreSQL servers: one that can be killed, and one with a streaming replica, made as pg_basebackup does it, because the embedded package
// lacks that program.

/** Also migrated, but empty. */
export const spareDatabase = 'spare';

export interface OwnServer {
  /** Address of its database, which is migrated. */
  url: string;
  cluster: Cluster;
  /** The server restarts automatically on the same port. */
  signal(signal: NodeJS.Signals): Promise<void>;
  close(): Promise<void>;
}

export interface ReplicatedServer extends OwnServer {
  replica: TestReplica;
  /** Adds a copy of the current primary, or of a replica that was promoted. */
  addReplica(of?: Cluster): Promise<TestReplica>;
  killPrimary(): Promise<void>;
}

export interface TestReplica {
  url: string;
  cluster: Cluster;
  /** As the superuser, for example pg_wal_replay_pause(). */
  query(statement: string): Promise<Body[]>;
  kill(): void;
  /** Like a hanging machine: connections stay open without answers. */
  freeze(): Promise<() => void>;
  /** On the same port as before. */
  start(): Promise<void>;
}

const settings = { fsync: 'off', shared_buffers: '32MB', autovacuum: 'off' };
const logger = silentLogger();

/** A separate PostgreSQL that may be killed. */
export async function startOwnServer(more: Record<string, string> = {}): Promise<OwnServer> {
  const dataDir = await mkdtemp(join(tmpdir(), `${testServerPrefix}${process.pid}-`));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, logger, settings: { ...settings, ...more } });
  await migrate({ url: server.url, logger });
  const cluster = await findCluster(join(dataDir, 'postgres'));
  if (cluster === undefined) throw new Error('the server has no cluster');
  return {
    url: server.url,
    cluster,
    async signal(signal) {
      const running = await findPostmaster(cluster, logger);
      if (running === undefined) throw new Error('the server does not run');
      process.kill(running.pid, signal);
    },
    async close() {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export async function startReplicatedServer(): Promise<ReplicatedServer> {
  const primary = await startOwnServer();
  await ask(urlIn(primary.url, 'postgres'), `create database ${spareDatabase} template ${databaseName}`);
  const started: Awaited<ReturnType<typeof startReplica>>[] = [];
  const addReplica = async (of = primary.cluster): Promise<TestReplica> => {
    const directory = `${primary.cluster.dataDirectory}-of-replica-${started.length + 1}`;
    const copy = { ...of, port: 0, dataDirectory: directory };
    await copyCluster(of, directory);
    const replica = await startReplica(of, copy, `${directory}.log`);
    started.push(replica);
    return controlReplica(replica, copy);
  };
  return {
    ...primary,
    replica: await addReplica(),
    addReplica,
    killPrimary: () => primary.signal('SIGKILL'),
    async close() {
      for (const replica of started) await replica.stop();
      await primary.close();
    },
  };
}

/** The cluster has the port of the replica. */
function controlReplica(replica: Awaited<ReturnType<typeof startReplica>>, cluster: Cluster): TestReplica {
  const url = urlOf(cluster, databaseName);
  return {
    ...{ url, cluster },
    query: (statement) => ask(url, statement),
    kill: () => void process.kill(replica.pid(), 'SIGKILL'),
    async freeze() {
      const processes = await ask(url, 'select pid from pg_stat_activity');
      const pids = [replica.pid(), ...processes.map(({ pid }) => pid)];
      for (const pid of pids) trySignal(pid, 'SIGSTOP');
      return () => pids.forEach((pid) => void trySignal(pid, 'SIGCONT'));
    },
    start: replica.start,
  };
}

/** Copies the files while the server runs; the label says where replay of the log must start. */
async function copyCluster(cluster: Cluster, directory: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(cluster, databaseName) });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('replica', true)`);
    await promisify(execFile)('cp', ['-a', cluster.dataDirectory, directory]);
    for (const name of ['postmaster.pid', 'postmaster.opts']) await rm(join(directory, name));
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    const { uid, gid } = await stat(directory);
    for (const [name, text] of [
      ['backup_label', rows[0].labelfile],
      ['standby.signal', ''],
    ]) {
      await writeFile(join(directory, name), text);
      await chown(join(directory, name), uid, gid);
    }
  } finally {
    await client.end();
  }
}

async function startReplica(primary: Cluster, cluster: Cluster, logFile: string) {
  const user = await findServerUser(cluster.dataDirectory);
  const binaries = await findBinaries({ user, copyTo: openDirectories, logger });
  const { port, username, password } = new URL(urlOf(primary, databaseName));
  const followed = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  const start = (): Promise<Postmaster> =>
    startPostmaster({
      ...{ cluster, binaries, user, logFile, logger },
      settings: { ...settings, primary_conninfo: followed, wal_retrieve_retry_interval: '100ms' },
    });
  let running = await start();
  cluster.port = running.port;
  return {
    port: running.port,
    pid: () => running.pid,
    async start() {
      running = await start();
    },
    stop: () => stopPostmaster(running, logger),
  };
}

/** The process may be gone. */
function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** Address of another database on the same server. */
export function urlIn(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}

async function ask(url: string, statement: string): Promise<Body[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows;
}
