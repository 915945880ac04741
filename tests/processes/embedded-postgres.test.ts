import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { abandonEmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded/postgres.ts';
import { identifyProcess } from '../../src/storage/process-identity.ts';
import { readCluster, startEmbeddedProcess } from '../support/processes/embedded-process.ts';
import { until, watchFor } from '../support/time.ts';

// Longer than our other tests: starting, sharing, stopping and losing a server, as its users see it.

const logger = silentLogger();
/** Making a cluster takes a second: tests that do not need a new one share this. */
let shared: string;
let fresh: string | undefined;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  shared = await makeDirectory();
});

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
  if (fresh) await rm(fresh, { recursive: true, maxRetries: 10, retryDelay: 100 });
  fresh = undefined;
});

afterAll(() => rm(shared, { recursive: true }));

describe('the embedded PostgreSQL', () => {
  it('is durable, closed to strangers, and has what we need', async () => {
    const { url } = await start(shared);
    const { rows } = await query(
      url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
         current_setting('listen_addresses') as address, current_setting('max_connections')::int as connections,
         current_setting('server_encoding') as encoding, 'Ärger' ilike 'äRGER' as letters`,
    );
    expect(rows).toEqual([
      { fsync: 'on', commit: 'on', address: '127.0.0.1', connections: 200, encoding: 'UTF8', letters: true },
    ]);
    for (const name of ['cube', 'pg_trgm', 'fuzzystrmatch'])
      await query(url, `create extension if not exists ${name}`);
    await expect(query(Object.assign(new URL(url), { password: 'guess' }).href, 'select 1')).rejects.toThrow(
      'password',
    );
    const { dataDirectory } = await readCluster(shared);
    expect((await stat(join(shared, 'postgres', 'cluster.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  });

  it('keeps its data and its port from one start to the next', async () => {
    const first = await startEmbeddedPostgres({ dataDir: shared, logger });
    await query(first.url, 'create table if not exists kept as select 42 as answer');
    await first.close();
    expect((await readCluster(shared)).pid).toBeUndefined();
    const second = await start(shared);
    expect(second.url).toBe(first.url);
    expect((await query(second.url, 'select * from kept')).rows).toEqual([{ answer: 42 }]);
  });

  it('takes another port when somebody else has taken its own', async () => {
    const first = await startEmbeddedPostgres({ dataDir: shared, logger });
    await first.close();
    const { port } = await readCluster(shared);
    const squatter = createServer().listen(port, '127.0.0.1');
    const second = await start(shared);
    expect(second.url).not.toBe(first.url);
    await query(second.url, 'select 1');
    squatter.close();
  });

  it('comes up for two processes that start at the same moment, and is stopped by the last one', async () => {
    const dataDir = await makeFresh();
    const [one, two] = await Promise.all([
      startEmbeddedProcess({ dataDir }),
      startEmbeddedProcess({ dataDir }),
    ]);
    expect(one.url).toBe(two.url);
    const { pid } = await readCluster(dataDir);
    await one.close();
    await query(two.url, 'select 1');
    expect((await readCluster(dataDir)).pid).toBe(pid);
    await two.close();
    expect(identifyProcess(pid ?? 0)).toBeUndefined();
  });

  it('outlives a process that was killed: the next one joins it, and stops it when it is the last one', async () => {
    const victim = await startEmbeddedProcess({ dataDir: shared });
    await query(victim.url, 'create table if not exists kept as select 42 as answer');
    const { pid } = await readCluster(shared);
    await victim.kill();
    const heir = await startEmbeddedPostgres({ dataDir: shared, logger });
    expect(heir.url).toBe(victim.url);
    expect((await readCluster(shared)).pid).toBe(pid);
    expect((await query(heir.url, 'select * from kept')).rows).toEqual([{ answer: 42 }]);
    await heir.close();
    expect(identifyProcess(pid ?? 0)).toBeUndefined();
  });

  it('that was killed together with its process, in the midst of a statement, is there again within 30 s', async () => {
    const statement = 'select count(*) as endless from generate_series(1, 2000000000)';
    const victim = await startEmbeddedProcess({ dataDir: shared, statement });
    const findWorker = `select pid from pg_stat_activity where state = 'active' and query = '${statement}'`;
    const worker = await until(
      async () => (await query(victim.url, findWorker)).rows[0]?.pid,
      'the statement',
    );
    try {
      const { pid = 0 } = await readCluster(shared);
      process.kill(pid, 'SIGKILL');
      await victim.kill();
      const killedAt = performance.now();
      const { url } = await start(shared);
      await query(url, 'select 1');
      expect(performance.now() - killedAt).toBeLessThan(30_000);
    } finally {
      if (identifyProcess(worker)) process.kill(worker, 'SIGKILL');
    }
  });

  it('that outlives its process ends the statements that nobody waits for any more', async () => {
    const statement = 'select count(*) as endless from generate_series(1, 2000000000)';
    const victim = await startEmbeddedProcess({ dataDir: shared, statement });
    const findWorker = `select pid from pg_stat_activity where state = 'active' and query = '${statement}'`;
    const isUnderWay = async () => (await query(victim.url, findWorker)).rows.length > 0;
    await until(isUnderWay, 'the statement');
    await victim.kill();
    await until(async () => !(await isUnderWay()), 'the statement to be ended');
    await start(shared);
  });

  it('has little to replay after a crash, however much was written: it makes a checkpoint by itself', async () => {
    const { url } = await start(shared);
    await query(url, 'checkpoint');
    await query(
      url,
      "select count(pg_logical_emit_message(false, 'test', repeat(md5(i::text), 32768))) from generate_series(1, 256) as i",
    );
    const toReplay =
      'select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()';
    await until(async () => (await query(url, toReplay)).rows[0]?.bytes < 128 * 1024 ** 2, 'the checkpoint');
  });

  it('that is killed is started again for who uses it, on its port, and stopped as ever', async () => {
    const server = await startEmbeddedPostgres({ dataDir: shared, logger });
    const database = await openDatabase({ url: server.url, logger });
    await database.query('create table if not exists kept as select 42 as answer');
    const { pid = 0, port } = await readCluster(shared);
    process.kill(pid, 'SIGKILL');
    const isBack = () =>
      database
        .ping()
        .then(() => readCluster(shared))
        .then((now) => now.pid !== pid);
    await until(() => isBack().catch(() => false), 'the server to be back');
    expect((await database.query('select * from kept')).rows).toEqual([{ answer: 42 }]);
    const again = await readCluster(shared);
    expect([again.pid === pid, again.port]).toEqual([false, port]);
    await database.close();
    await server.close();
    expect((await readCluster(shared)).pid).toBeUndefined();
  });

  it('says what is wrong with a place where it cannot be made', async () => {
    const file = join(shared, 'a file');
    await writeFile(file, '');
    const started = startEmbeddedPostgres({ dataDir: join(file, 'below'), logger });
    await expect(started).rejects.toThrow(/^Cannot write to .*a file.*ENOTDIR.*DATA_DIR/);
  });

  it('comes up when a process was killed while it made the database', async () => {
    const dataDir = await makeFresh();
    const victim = startEmbeddedProcess({ dataDir }).catch((error: Error) => error);
    // In the middle of initdb, which continues on its own.
    const child = await untilMaking(dataDir);
    process.kill(child, 'SIGKILL');
    expect(await victim).toBeInstanceOf(Error);
    const { url } = await start(dataDir, { fsync: 'off' });
    await query(url, 'select 1');
  });
});

describe('an embedded PostgreSQL that does not answer', () => {
  const isGone = (pid: number) => until(() => identifyProcess(pid) === undefined, 'the server to be gone');

  it('is told to stop by the last one that leaves it', async () => {
    const { user, pid } = await startSilent();
    user.close().catch(() => undefined);
    await untilUsers(0);
    // A stopping process waits at least this long.
    await watchFor(1_000);
    await user.kill();
    process.kill(pid, 'SIGCONT');
    await isGone(pid);
  });

  it('is told to stop by a process that ends without closing anything', async () => {
    const { user, pid } = await startSilent();
    await user.kill();
    await abandonEmbeddedPostgres(shared);
    process.kill(pid, 'SIGCONT');
    await isGone(pid);
  });

  it('is not waited for by a start that is told to stop', async () => {
    const { user, pid } = await startSilent();
    await user.kill();
    const stop = new AbortController();
    const started = startEmbeddedPostgres({ dataDir: shared, logger, signal: stop.signal });
    const refusal = expect(started).rejects.toThrow('told to stop');
    await untilUsers(2); // the killed one still counts
    stop.abort(new Error('told to stop'));
    await refusal;
    process.kill(pid, 'SIGCONT');
    await abandonEmbeddedPostgres(shared);
    await isGone(pid);
  });

  it('is stopped by the start that waits for its recovery and is told to stop', async () => {
    const dataDir = await makeFresh();
    await (await startEmbeddedPostgres({ dataDir, logger })).close();
    const { dataDirectory } = await readCluster(dataDir);
    // A standby that accepts no connections recovers for ever.
    const standby = join(dataDirectory, 'standby.signal');
    await writeFile(standby, '');
    await chmod(standby, 0o666);
    const stop = new AbortController();
    const settings = { hot_standby: 'off' };
    const started = startEmbeddedPostgres({ dataDir, logger, settings, signal: stop.signal });
    const refusal = expect(started).rejects.toThrow('told to stop');
    const pid = await until(async () => (await readCluster(dataDir)).pid, 'the server that recovers');
    await watchFor(500);
    stop.abort(new Error('told to stop'));
    await refusal;
    expect(identifyProcess(pid)).toBeUndefined();
    await rm(standby);
    const { url } = await start(dataDir);
    await query(url, 'select 1');
  });

  async function untilUsers(count: number) {
    const users = join(shared, 'postgres', 'users');
    await until(async () => (await readdir(users)).length === count, `${count} users of the server`);
  }

  async function startSilent() {
    const user = await startEmbeddedProcess({ dataDir: shared });
    const { pid = 0 } = await readCluster(shared);
    process.kill(pid, 'SIGSTOP');
    return { user, pid };
  }
});

describe('a postmaster.pid that was left behind', () => {
  it('does not hinder a start when its process is gone, and open databases recover', async () => {
    const first = await start(shared);
    const database = await openDatabase({ url: first.url, logger });
    await database.query('create table if not exists kept as select 42 as answer');
    const { pid = 0 } = await readCluster(shared);
    process.kill(pid, 'SIGKILL');
    await until(() => identifyProcess(pid) === undefined, 'the process to be gone');
    expect((await readCluster(shared)).pid).toBe(pid);
    await expect(database.ping()).rejects.toThrow();
    const second = await start(shared);
    expect(second.url).toBe(first.url);
    expect((await database.query('select * from kept')).rows).toEqual([{ answer: 42 }]);
    await database.close();
  });

  it('does not hinder a start when its process id is that of another program by now', async () => {
    const first = await startEmbeddedPostgres({ dataDir: shared, logger });
    await first.close();
    const { dataDirectory, port } = await readCluster(shared);
    const stale = [process.pid, dataDirectory, 1_700_000_000, port, '', '127.0.0.1', '', 'ready', ''].join(
      '\n',
    );
    await writeFile(join(dataDirectory, 'postmaster.pid'), stale);
    const second = await start(shared);
    await query(second.url, 'select 1');
  });
});

/** The process that holds the lock, once it has begun to make the files of the cluster. */
async function untilMaking(dataDir: string): Promise<number> {
  const home = join(dataDir, 'postgres');
  await until(async () => {
    const names = await readdir(home).catch(() => []);
    return names.some((name) => name.startsWith('data.'));
  }, 'the files of the cluster');
  return Number.parseInt(await readFile(join(home, 'lock', '1'), 'utf8'), 10);
}

async function makeFresh(): Promise<string> {
  fresh = await makeDirectory();
  return fresh;
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'signpost-embedded-'));
  // When started by root, the server runs as another user, which needs access.
  await chmod(directory, 0o755);
  return directory;
}

async function start(dataDir: string, settings?: Record<string, string>) {
  const server = await startEmbeddedPostgres({ dataDir, logger, settings });
  open.push(server);
  return server;
}

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client.query(text).finally(() => client.end());
}
