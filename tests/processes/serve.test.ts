import { readFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { register as registerServeCommand } from '../../src/cli/serve.ts';
import { silentLogger } from '../../src/logger.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/free-port.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { runCommand } from '../support/processes/command.ts';
import { hasCommand } from '../support/processes/reverse-proxy.ts';
import { freePorts, makeDataDir, startCommand, type UpProcess } from '../support/processes/up-process.ts';
import { until } from '../support/time.ts';

// Starting roles for a network: required settings, the printed output, and failing starts.

const atEnd: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of atEnd.splice(0).reverse()) await end();
});

describe('signpost serve asks, in a sentence, for', () => {
  const serve = (roles: string, env: Record<string, string> = {}) =>
    runCommand(registerServeCommand, ['serve', '--roles', roles], env);

  it('the id of each role that signs', async () => {
    const { exitCode, notes } = await serve('all', { DISCOVERY_ID: 'ds.example.org' });
    expect(exitCode).toBe(1);
    expect(notes).toBe(
      'Set CATALOG_ID and PUBLISHER_ID: "serve" must know under which subscriberId the registry has each of these roles.\n',
    );
  });

  it('a database, unless it is told to use the embedded one', async () => {
    const { exitCode, notes } = await serve('catalog', { CATALOG_ID: 'catalog.example.org' });
    expect(exitCode).toBe(1);
    expect(notes).toMatch(/^Set DATABASE_URL to a PostgreSQL, .* or EMBEDDED_DATABASE=true .*\n$/);
  });
});

describe('signpost serve', () => {
  it.skipIf(!hasCommand('script'))('shows a new operator token on a terminal (needs script)', async () => {
    const home = await createTestDatabase();
    atEnd.push(() => home.drop());
    const { dataDir, remove } = await makeDataDir();
    atEnd.push(remove);
    const settings = { DATABASE_URL: home.url, LOG_LEVEL: 'silent', ...(await freePorts()) };
    const args = ['serve', '--roles', 'console'];
    const signpost = startCommand(args, dataDir, settings, { onTerminal: true });
    atEnd.push(async () => {
      signpost.signal('SIGTERM');
      await signpost.ended;
    });
    const said = await signpost.saying('operations http');
    const token = (await readFile(join(dataDir, 'operator-token'), 'utf8')).trim();
    expect(said).toContain(`token      ${token}  for changes at the console; kept in ${dataDir}`);
  });

  it('tells the key that it made, what to register, where it listens and its public address', async () => {
    const network = await startRegistry();
    const { signpost, settings, dataDir } = await serve('catalog', {
      DATABASE_URL: network.databaseUrl,
      REGISTRY_URL: network.config.registryUrl,
      CATALOG_URL: 'https://catalog.example.org',
    });
    const operations = `http://127.0.0.1:${settings.OPERATIONS_PORT}`;
    const said = await signpost.saying(`operations ${operations}\n`);
    const listensOn = `http://127.0.0.1:${settings.CATALOG_PORT}`;
    expect(said).toContain(`catalog    ${listensOn}  public address https://catalog.example.org\n`);

    const made = logged(said, 'made a signing key');
    expect(made).toMatchObject({
      subscriberId: 'catalog.example.org',
      recordId: 'key-1',
      file: `${dataDir}/keys/catalog.example.org.key-1.seed`,
    });
    const { subscriberId, recordId, publicKey } = made;
    const key = { subscriberId, recordId, publicKey };
    const problem = 'The registry does not know catalog.example.org.';
    await until(() => signpost.said().includes(problem), 'the registry to be asked');
    expect(logged(signpost.said(), problem)).toMatchObject(key);
    expect(await read(`${operations}/ready`)).toMatchObject({
      ready: true,
      roles: { catalog: { key: { ...key, registered: false, problem } } },
    });
    for (const path of ['health', 'ready', 'metrics', 'docs']) {
      expect((await fetch(`${operations}/${path}`)).status).toBe(200);
      expect((await fetch(`${listensOn}/${path}`)).status).toBe(404);
    }
  });

  it('logs JSON when nobody sits at a terminal, and a refused request as one line in any form', async () => {
    const network = await startRegistry();
    for (const LOG_FORMAT of ['', 'pretty']) {
      const { signpost, settings } = await serve('catalog', {
        DATABASE_URL: network.databaseUrl,
        REGISTRY_URL: network.config.registryUrl,
        LOG_FORMAT,
      });
      await signpost.saying('operations ');
      await fetch(`http://127.0.0.1:${settings.CATALOG_PORT}/catalog/search`, { method: 'POST', body: '{}' });
      const said = await signpost.saying('AUT_SIGNATURE_MISSING');
      if (LOG_FORMAT === '') expect(logged(said, 'AUT_SIGNATURE_MISSING')).toMatchObject({ status: 401 });
      else expect(said).toMatch(/INFO: request .*"status":401.*"code":"AUT_SIGNATURE_MISSING"/);
      await stop(signpost);
    }
  });

  it('waits for a PostgreSQL that is down, says so, lives meanwhile, and comes up with it', async () => {
    const network = await startRegistry();
    const port = await freePort();
    const { signpost, settings } = await serve('catalog', {
      DATABASE_URL: Object.assign(new URL(network.databaseUrl), { host: `127.0.0.1:${port}` }).href,
      REGISTRY_URL: network.config.registryUrl,
    });
    await signpost.saying(`waiting for PostgreSQL at 127.0.0.1:${port}/`);
    const operations = `http://127.0.0.1:${settings.OPERATIONS_PORT}`;
    expect(await read(`${operations}/health`)).toMatchObject({ status: 'up' });
    const ready = await fetch(`${operations}/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { problem: 'the process is starting' }]);
    await forwardToServer(port);
    await signpost.saying('operations ');
    expect((await fetch(`${operations}/ready`)).status).toBe(200);
    expect((await stop(signpost)).code).toBe(0);
  });

  it('told to stop while it waits for PostgreSQL waits no longer', async () => {
    const { signpost } = await serve('registry', {
      DATABASE_URL: `postgres://nobody:none@127.0.0.1:${await freePort()}/none`,
    });
    await signpost.saying('waiting for PostgreSQL');
    expect(await stop(signpost)).toEqual({ code: 0, signal: null });
  });

  it('does not wait for a database that the server refuses', async () => {
    const { signpost } = await serve('registry', {
      DATABASE_URL: Object.assign(new URL(inject('databaseUrl')), { pathname: '/no_such_database' }).href,
    });
    expect(await signpost.ended).toEqual({ code: 1, signal: null });
    expect(failureOf(signpost)).toMatch(
      /^Cannot start: Cannot connect to PostgreSQL .*"no_such_database" does not exist$/,
    );
  });

  it('crawls a node once whose address is spelled in two ways', async () => {
    const home = await migratedDatabase();
    const nodes = [
      'http://127.0.0.1:80',
      'http://127.1:80',
      'bpp.example',
      'bpp.example/subscribers.beckn.one',
    ];
    const { signpost } = await serve('discovery', {
      DATABASE_URL: home.url,
      DISCOVERY_NODES: JSON.stringify(nodes),
    });
    await signpost.saying('operations ');
    const { rows } = await ask(home, 'select kind, name from discovery.crawl_source order by kind');
    expect(rows).toEqual([
      { kind: 'address', name: 'http://127.0.0.1' },
      { kind: 'subscriber', name: 'bpp.example/subscribers.beckn.one' },
    ]);
    await stop(signpost);
  });

  it('whose start fails when it already listens says why in one sentence, and leaves nothing running', async () => {
    const home = await migratedDatabase();
    await ask(home, 'drop table discovery.crawl_source cascade');
    const { signpost, settings } = await serve('discovery', { DATABASE_URL: home.url });
    expect(await signpost.ended).toEqual({ code: 1, signal: null });
    expect(failureOf(signpost)).toBe('Cannot start: relation "discovery.crawl_source" does not exist');
    await expect(fetch(`http://127.0.0.1:${settings.DISCOVERY_PORT}/health`)).rejects.toThrow();
  });

  it('that cannot listen names the setting, and ends', async () => {
    const home = await migratedDatabase();
    const taken = await freePort();
    await listenOn(createServer(), taken);
    const { signpost } = await serve('registry', { DATABASE_URL: home.url, OPERATIONS_PORT: `${taken}` });
    expect(await signpost.ended).toEqual({ code: 1, signal: null });
    expect(failureOf(signpost)).toBe(
      `Cannot listen on 127.0.0.1:${taken}: another program listens there. Stop it, or set another OPERATIONS_PORT.`,
    );
    const elsewhere = await serve('registry', { DATABASE_URL: home.url, HOST: '192.0.2.1' });
    expect(await elsewhere.signpost.ended).toEqual({ code: 1, signal: null });
    expect(failureOf(elsewhere.signpost)).toMatch(
      /^Cannot listen on 192.0.2.1:\d+: this machine has no such/,
    );
  });
});

const ids = { CATALOG_ID: 'catalog.example.org', DISCOVERY_ID: 'ds.example.org' };

/** In a separate data directory, on free ports. */
async function serve(roles: string, settings: Record<string, string>) {
  const { dataDir, remove } = await makeDataDir();
  atEnd.push(remove);
  const all: Record<string, string> = {
    ...(await freePorts()),
    ...ids,
    REGISTRY_URL: 'http://127.0.0.1:1',
    ...settings,
  };
  const signpost = startCommand(['serve', '--roles', roles], dataDir, all);
  atEnd.push(() => stop(signpost));
  return { signpost, settings: all, dataDir };
}

function stop(signpost: UpProcess): UpProcess['ended'] {
  signpost.signal('SIGTERM');
  return signpost.ended;
}

async function startRegistry(): Promise<TestNetwork> {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  atEnd.push(() => network.close());
  return network;
}

async function migratedDatabase(): Promise<TestDatabase> {
  const home = await createTestDatabase();
  atEnd.push(() => home.drop());
  return home;
}

async function ask({ url }: TestDatabase, text: string) {
  const database = await openDatabase({ url, logger: silentLogger(), maxConnections: 2 });
  return database.query(text).finally(() => database.close());
}

/** Forwards another port to the server of the tests. */
async function forwardToServer(port: number): Promise<void> {
  const { hostname, port: serverPort } = new URL(inject('databaseUrl'));
  const forward = createServer((socket) => {
    const server = connect(Number(serverPort || 5432), hostname);
    socket.on('error', () => server.destroy()).on('close', () => server.destroy());
    server.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  await listenOn(forward, port);
}

async function listenOn(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atEnd.push(async () => void server.close());
}

/** Its last output: one line. */
function failureOf(signpost: UpProcess): string {
  return /^signpost: (.*)\n$/m.exec(signpost.said())?.[1] ?? signpost.said();
}

/** The first log line about something. */
function logged(said: string, about: string): Record<string, unknown> {
  return JSON.parse(said.split('\n').find((line) => line.includes(about)) ?? '{}');
}

async function read(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}
