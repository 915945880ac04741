import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settings as allSettings, roles } from '../src/config.ts';
import { freePort } from './support/network.ts';

// What a newcomer types, from the built files: everything in one process, with a database of its own.

const commandLine = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const timeoutMs = 120_000;

describe('signpost up', () => {
  let dataDir: string;
  let settings: Record<string, string>;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'signpost-up-'));
    // Started by root, PostgreSQL runs as another user, who must be able to get there.
    await chmod(dataDir, 0o755);
    const ports = Object.keys(allSettings).filter((name) => name.endsWith('_PORT'));
    const free = await Promise.all(ports.map(freePort));
    settings = {
      DATA_DIR: dataDir,
      ...Object.fromEntries(ports.map((name, index) => [name, `${free[index]}`])),
    };
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  function start() {
    const child = spawn(process.execPath, [commandLine, 'up'], {
      cwd: dataDir, // away from any .env file
      env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let notes = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (notes += chunk));
    const killWithUs = () => child.kill('SIGKILL');
    process.once('exit', killWithUs);
    const ended = once(child, 'close').then(([code]) => {
      process.off('exit', killWithUs);
      return { code, out, notes };
    });
    return {
      ended,
      /** What it printed, once it is up. */
      async up(): Promise<string> {
        while (!out.includes('Signpost is up')) {
          if (child.exitCode !== null) throw new Error(`it did not come up:\n${out}${notes}`);
          await delay(20);
        }
        return out;
      },
      signal: (signal: NodeJS.Signals) => child.kill(signal),
    };
  }

  /** Whether the database server of the data directory runs. */
  async function hasServer(): Promise<boolean> {
    const { dataDirectory } = JSON.parse(await readFile(join(dataDir, 'postgres', 'cluster.json'), 'utf8'));
    return (await stat(join(dataDirectory, 'postmaster.pid')).catch(() => undefined)) !== undefined;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  const read = async (url: string): Promise<any> => (await fetch(url)).json();

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'prints the address of every role, stays up, and is gone with everything it started after %s',
    async (signal) => {
      const signpost = start();
      const printed = await signpost.up();
      for (const role of roles) expect(printed).toMatch(new RegExp(`^${role} +http://127.0.0.1:\\d+`, 'm'));
      const operations = `http://127.0.0.1:${settings.OPERATIONS_PORT}`;
      expect(printed).toContain(`operations ${operations}\n`);
      const ready = await fetch(`${operations}/ready`);
      const everyRole = Object.fromEntries(roles.map((role) => [role, { ready: true }]));
      expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true, roles: everyRole }]);
      expect(await hasServer()).toBe(true);

      signpost.signal(signal);
      expect(await signpost.ended).toMatchObject({ code: 0, notes: expect.stringContaining('stopped') });
      expect(await hasServer()).toBe(false);
    },
    timeoutMs,
  );

  it(
    'publishes the catalog of the demo as signed files, and the registry leads to them',
    async () => {
      const signpost = start();
      const printed = await signpost.up();
      expect(printed).toContain(`trigger    http://127.0.0.1:${settings.PUBLISHER_TRIGGER_PORT}\n`);
      const lookup = `http://127.0.0.1:${settings.REGISTRY_PORT}/dedi/lookup/publisher.signpost.test/subscribers.beckn.one/key-1`;
      const { data: record } = await read(lookup);
      const manifest = await read(`${record.details.url}/.well-known/dedi.index.json`);
      expect(manifest.domain).toBe('publisher.signpost.test');
      const index = await read(record.meta.catalog_index_urls[0].url);
      expect(index).toMatchObject({
        nodeId: 'publisher.signpost.test',
        catalogs: [{ catalogId: 'kaveri-mysuru' }],
      });
      expect((await fetch(index.catalogs[0].baseline.url)).status).toBe(200);
      signpost.signal('SIGINT');
      expect(await signpost.ended).toMatchObject({ code: 0 });
    },
    timeoutMs,
  );

  it(
    'says which port is taken when it cannot start, and leaves alone what runs',
    async () => {
      const first = start();
      await first.up();
      const { code, notes } = await start().ended;
      expect(code).toBe(1);
      expect(notes).toContain(`Cannot listen on 127.0.0.1:${settings.REGISTRY_PORT}: another program does.`);
      expect(await hasServer()).toBe(true);
      first.signal('SIGINT');
      expect(await first.ended).toMatchObject({ code: 0 });
    },
    timeoutMs,
  );
});
