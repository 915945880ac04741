import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireFileLock } from '../src/storage/file-lock.ts';
import { identifyProcess } from '../src/storage/process-identity.ts';
import { builtFiles, readCluster, startEmbeddedProcess } from './support/embedded-process.ts';
import { freePort } from './support/network.ts';

// `signpost up` as a person starts and stops it, with the embedded database: whatever the moment, nothing is left running.

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'signpost-stopping-'));
  // Started by root, the server runs as another user, who must be able to get there.
  await chmod(dataDir, 0o755);
});

afterAll(() => rm(dataDir, { recursive: true }));

describe('signpost up', { timeout: 120_000 }, () => {
  it('told to stop while it starts says so at once, stops, and leaves no process', async () => {
    const { child, said } = await up();
    const makesDatabase = async () =>
      (await readdir(join(dataDir, 'postgres')).catch(() => [])).some((name) => name.startsWith('data.'));
    await until(makesDatabase);
    child.kill('SIGINT');
    await until(() => said().includes('stopping'));
    const [code] = await once(child, 'exit');
    expect([code, said().includes('Signpost is up')]).toEqual([0, false]);
    expect((await readCluster(dataDir)).pid).toBeUndefined();
  });

  it('told to stop while it waits for another process waits no longer', async () => {
    const release = await acquireFileLock(join(dataDir, 'postgres', 'lock'), 1_000);
    const { child, said } = await up();
    await until(() => said().includes('waiting for another process'));
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await release();
  });

  it('told by the terminal and once more by npm, as with one Ctrl-C, stops as if told once', async () => {
    const { child, said } = await up();
    await until(() => said().includes('Signpost is up'));
    child.kill('SIGINT');
    await until(() => said().includes('stopping'));
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(said()).toContain('stopped.');
    expect((await readCluster(dataDir)).pid).toBeUndefined();
  });

  it('told again does not wait, and leaves no process either', async () => {
    const { child, said, catalogPort } = await up();
    await until(() => said().includes('Signpost is up'));
    const { pid = 0 } = await readCluster(dataDir);
    // A request that is still coming in is waited for.
    const slow = connect(catalogPort, '127.0.0.1').on('error', () => undefined);
    slow.write('POST /catalog/search HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
    await delay(100);
    child.kill('SIGINT');
    await until(() => said().includes('stopping'));
    await delay(700);
    child.kill('SIGINT');
    // On a busy machine the request may not have arrived before the stop: then there was nothing to wait for.
    expect([
      [null, 'SIGKILL'],
      [0, null],
    ]).toContainEqual(await once(child, 'exit'));
    await until(() => identifyProcess(pid) === undefined);
    slow.destroy();
  });
});

describe('a command that uses the database', { timeout: 120_000 }, () => {
  it('ends with Ctrl-C, together with the server that nobody else uses', async () => {
    const { url, kill } = await startEmbeddedProcess({ dataDir });
    await kill();
    const { pid = 0 } = await readCluster(dataDir);
    // Who migrates waits for who is migrating.
    const migrating = new pg.Client({ connectionString: url }).on('error', () => undefined);
    await migrating.connect();
    await migrating.query('select pg_advisory_lock(7206113001)');
    const waiting = async () =>
      (await migrating.query("select from pg_locks where locktype = 'advisory' and not granted")).rowCount ===
      1;
    const child = spawn(process.execPath, [signpost, 'registry', 'list'], {
      cwd: dataDir,
      env: environment({}),
    });
    await until(waiting);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
    await until(() => identifyProcess(pid) === undefined);
  });
});

async function up(): Promise<{ child: ChildProcess; said: () => string; catalogPort: number }> {
  const [registryPort, catalogPort, discoveryPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const child = spawn(process.execPath, [signpost, 'up'], {
    cwd: dataDir,
    env: environment({
      REGISTRY_PORT: String(registryPort),
      CATALOG_PORT: String(catalogPort),
      DISCOVERY_PORT: String(discoveryPort),
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  return { child, said: () => text, catalogPort };
}

const signpost = join(builtFiles, 'cli', 'main.js');

function environment(settings: Record<string, string>) {
  return { PATH: process.env.PATH, DATA_DIR: dataDir, ...settings };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(10)) {
    if (await condition()) return;
  }
  throw new Error('it did not come to pass');
}
