import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireFileLock } from '../../src/storage/file-lock.ts';
import { identifyProcess } from '../../src/storage/process-identity.ts';
import { readCluster, startEmbeddedProcess } from '../support/processes/embedded-process.ts';
import { commandLine, freePorts, makeDataDir, startUp } from '../support/processes/up-process.ts';
import { takeTime, until } from '../support/time.ts';

// `signpost up` with the embedded database, started and stopped by a user: nothing stays running, whatever the moment.

let dataDir: string;
let removeDataDir: () => Promise<void>;
let settings: Record<string, string>;

beforeAll(async () => {
  ({ dataDir, remove: removeDataDir } = await makeDataDir());
  settings = await freePorts();
});
afterAll(() => removeDataDir());

describe('signpost up', () => {
  it('told to stop while it starts says so at once, stops, and leaves no process', async () => {
    const signpost = startUp(dataDir, settings);
    const makesDatabase = async () =>
      (await readdir(join(dataDir, 'postgres')).catch(() => [])).some((name) => name.startsWith('data.'));
    await until(makesDatabase);
    signpost.signal('SIGINT');
    await signpost.saying('stopping');
    expect(await signpost.ended).toMatchObject({ code: 0 });
    expect(signpost.said()).not.toContain('Signpost is up');
    expect((await readCluster(dataDir)).pid).toBeUndefined();
  });

  it('told to stop while it waits for another process waits no longer', async () => {
    const release = await acquireFileLock(join(dataDir, 'postgres', 'lock'), 1_000);
    const signpost = startUp(dataDir, settings);
    await signpost.saying('waiting for another process');
    signpost.signal('SIGTERM');
    expect(await signpost.ended).toEqual({ code: 0, signal: null });
    await release();
  });

  it('told by the terminal and once more by npm, as with one Ctrl-C, stops as if told once', async () => {
    const signpost = startUp(dataDir, settings);
    await signpost.saying('Signpost is up');
    signpost.signal('SIGINT');
    await signpost.saying('stopping');
    signpost.signal('SIGINT');
    expect(await signpost.ended).toEqual({ code: 0, signal: null });
    expect(signpost.said()).toContain('stopped.');
    expect((await readCluster(dataDir)).pid).toBeUndefined();
  });

  it('told again does not wait, and leaves no process either', async () => {
    const signpost = startUp(dataDir, settings);
    await signpost.saying('Signpost is up');
    const { pid = 0 } = await readCluster(dataDir);
    // It waits for requests that are still arriving.
    const slow = connect(Number(settings.CATALOG_PORT), '127.0.0.1').on('error', () => undefined);
    slow.write('POST /catalog/search HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
    await takeTime(100);
    signpost.signal('SIGINT');
    await signpost.saying('stopping');
    await takeTime(700);
    signpost.signal('SIGINT');
    // On a busy machine the request may arrive after the stop: then there was nothing to wait for.
    expect([
      { code: null, signal: 'SIGKILL' },
      { code: 0, signal: null },
    ]).toContainEqual(await signpost.ended);
    await until(() => identifyProcess(pid) === undefined);
    slow.destroy();
  });
});

describe('a command that uses the database', () => {
  it('ends with Ctrl-C, together with the server that nobody else uses', async () => {
    const { url, kill } = await startEmbeddedProcess({ dataDir });
    await kill();
    const { pid = 0 } = await readCluster(dataDir);
    // Migrations wait for each other.
    const migrating = new pg.Client({ connectionString: url }).on('error', () => undefined);
    await migrating.connect();
    await migrating.query('select pg_advisory_lock(7206113001)');
    const waiting = async () =>
      (await migrating.query("select from pg_locks where locktype = 'advisory' and not granted")).rowCount ===
      1;
    const child = spawn(process.execPath, [commandLine, 'registry', 'list'], {
      cwd: dataDir,
      env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    });
    await until(waiting);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([130, null]);
    await until(() => identifyProcess(pid) === undefined);
  });
});
