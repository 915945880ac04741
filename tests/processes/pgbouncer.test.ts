import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { findServerUser, runAs } from '../../src/storage/embedded/server-user.ts';
import { openReplicas } from '../../src/storage/replicas.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/time.ts';

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;

describe.skipIf(!isInstalled)('PgBouncer (needs pgbouncer)', () => {
  let home: TestDatabase;
  let directory: string;
  let pooler: ChildProcess | undefined;

  /** The address of the database behind it. */
  async function startPooler(settings: Record<string, string>): Promise<string> {
    home = await createTestDatabase();
    const { hostname, port, username, password, pathname } = new URL(home.url);
    const listenPort = await freePort();
    directory = await mkdtemp(join(tmpdir(), 'signpost-pgbouncer-'));
    const user = await findServerUser(undefined);
    await chmod(directory, 0o700);
    if (user) await chown(directory, user.uid, user.gid);
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: listenPort,
      auth_type: 'any',
      unix_socket_dir: '',
      ...settings,
    };
    const file = join(directory, 'pgbouncer.ini');
    const target = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)} dbname=${pathname.slice(1)}`;
    const lines = [
      '[databases]',
      `pooled = ${target}`,
      '[pgbouncer]',
      ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
    ];
    await writeFile(file, lines.join('\n'));
    if (user) await chown(file, user.uid, user.gid);
    pooler = spawn('pgbouncer', ['-q', file], {
      ...runAs(user),
      env: { PATH: process.env.PATH ?? '' },
      stdio: 'ignore',
    });
    const url = `postgres://signpost@127.0.0.1:${listenPort}/pooled`;
    await until(async () => {
      const client = new pg.Client(url);
      client.on('error', () => undefined);
      const answered = await client
        .connect()
        .then(() => client.query('select 1'))
        .then(
          () => true,
          () => false,
        );
      await client.end().catch(() => undefined);
      return answered;
    }, 'the pooler to answer');
    return url;
  }

  afterEach(async () => {
    if (pooler) {
      const ended = once(pooler, 'exit');
      pooler.kill('SIGKILL');
      await ended;
    }
    await rm(directory, { recursive: true, force: true });
    await home.drop();
  });

  const ignored = 'options,idle_in_transaction_session_timeout,extra_float_digits';
  const modes: [string, Record<string, string>][] = [
    ['in session mode', { pool_mode: 'session' }],
    ['in transaction mode', { pool_mode: 'transaction' }],
    ['in session mode that ignores settings', { pool_mode: 'session', ignore_startup_parameters: ignored }],
    [
      'in transaction mode that ignores settings',
      { pool_mode: 'transaction', ignore_startup_parameters: ignored },
    ],
  ];
  it.each(modes)(
    '%s is refused at the start, with a sentence that says what to do',
    async (_mode, settings) => {
      const url = await startPooler(settings);
      for (const waitForServer of [false, true])
        await expect(openDatabase({ url, logger: silentLogger(), waitForServer })).rejects.toThrow(
          /^PostgreSQL at 127\.0\.0\.1:\d+\/pooled is behind a connection pooler, such as PgBouncer\. .* set DATABASE_CONNECTIONS/,
        );
      // The same database without the pooler.
      const database = await openDatabase({ url: home.url, logger: silentLogger() });
      await database.close();
    },
  );

  it.each(modes)('%s is not used as a replica, and /ready says why', async (_mode, settings) => {
    const url = await startPooler(settings);
    const logger = silentLogger();
    const database = await openDatabase({ url: home.url, logger });
    const limits = { maxConnections: 2, statementMs: 10_000 };
    const replicas = await openReplicas({
      urls: [url],
      database,
      logger,
      metrics: createMetrics(),
      ...limits,
    });
    const problem = /^PostgreSQL at 127\.0\.0\.1:\d+\/pooled is behind a connection pooler/;
    expect(replicas.describe()).toEqual([
      { server: new URL(url).host, inUse: false, problem: expect.stringMatching(problem) },
    ]);
    await replicas.close();
    await database.close();
  });
});
