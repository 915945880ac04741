// A registry and a catalog service, or another role, in a separate process with a separate embedded PostgreSQL, and participants played by the
// benchmark. BENCH_DATABASE_URL names a server to use instead; each service gets a database there, which is dropped afterwards.
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import { request as ask } from 'undici';
import { silentLogger } from '../dist/logger.js';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../dist/protocol/keys.js';
import { signRequest } from '../dist/protocol/request-signature.js';
import { openDatabase } from '../dist/storage/database.js';
import { startEmbeddedPostgres } from '../dist/storage/embedded/postgres.js';
import { registerParticipant } from '../dist/storage/registry/participants.js';

/** The embedded server is tuned for a small machine and quick recovery; these settings suit a million resources, for us and for yardsticks alike. */
const serverSettings = { shared_buffers: '1GB', max_wal_size: '4GB', checkpoint_timeout: '15min' };
const registryName = 'subscribers.beckn.one';

/**
 * `settings` are environment variables of the service, or a function of its addresses that returns them. `prepare` fills the database before the
 * service starts. `postgres` is an existing server (openPostgres), which is not stopped.
 */
export async function startService(options = {}) {
  /** Close what was started, the last one first. */
  const closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(options, (end) => closers.push(end))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start({ settings = {}, prepare = async () => {}, postgres: given }, atEnd) {
  const dataDir = mkdtempSync(join(tmpdir(), 'signpost-bench-'));
  atEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  const postgres = given ?? (await openPostgres());
  if (!given) atEnd(() => postgres.close());
  const database = await openDatabase({ url: postgres.url, logger: silentLogger(), maxConnections: 4 });
  atEnd(() => database.close());
  await prepare(database, postgres);

  const [registryPort, catalogPort, discoveryPort] = [await freePort(), await freePort(), await freePort()];
  const [seed, discoverySeed] = [generateSeed(), generateSeed()];
  const catalogUrl = `http://127.0.0.1:${catalogPort}`;
  const discoveryUrl = `http://127.0.0.1:${discoveryPort}`;
  await register(database, { id: 'catalog.bench', url: catalogUrl, seed });
  await register(database, { id: 'discovery.bench', url: discoveryUrl, seed: discoverySeed });
  const child = fork(new URL('./servers/roles.mjs', import.meta.url), {
    env: {
      ...process.env,
      ROLES: 'registry,catalog',
      DATABASE_URL: postgres.url,
      DATA_DIR: dataDir,
      REGISTRY_PORT: String(registryPort),
      CATALOG_PORT: String(catalogPort),
      CATALOG_ID: 'catalog.bench',
      CATALOG_PRIVATE_KEY: seed,
      DISCOVERY_PORT: String(discoveryPort),
      DISCOVERY_ID: 'discovery.bench',
      DISCOVERY_PRIVATE_KEY: discoverySeed,
      ALLOW_PRIVATE_ADDRESSES: 'true',
      RATE_LIMIT_PER_SECOND: '0',
      TIME_LIMIT_MS_PER_SECOND: '0',
      BYTE_LIMIT_PER_SECOND: '0',
      LOG_LEVEL: 'warn',
      ...(typeof settings === 'function' ? settings({ catalogUrl, discoveryUrl }) : settings),
    },
  });
  const exited = once(child, 'exit');
  atEnd(async () => {
    if (child.connected) child.disconnect();
    await exited;
  });
  await Promise.race([
    once(child, 'message'),
    exited.then(() => Promise.reject(new Error('the service did not start'))),
  ]);

  return {
    database,
    catalogUrl,
    discoveryUrl,
    processId: child.pid,
    /** The identity of a participant that uses the client, wherever it listens. */
    async identity(name, privateKey) {
      const id = `${name}.bench`;
      await register(database, { id, seed: privateKey });
      const registry = `http://127.0.0.1:${registryPort}/dedi`;
      return {
        id,
        keyId: 'key-1',
        privateKey,
        registry,
        catalogService: catalogUrl,
        discoveryService: discoveryUrl,
      };
    },
    /** `to` is the address that it sends requests to; with `ignoresCallbacks` it acknowledges callbacks unread. */
    async participant(name, { to = catalogUrl, ignoresCallbacks = false } = {}) {
      const participant = await startParticipant(`${name}.bench`, database, { to, ignoresCallbacks });
      atEnd(() => participant.close());
      return participant;
    },
    /** The largest growth of the service's memory during the work, in bytes. */
    async addedMemory(work) {
      const { start, peak } = await watchMemory(child, work);
      return peak - start;
    },
    /** Its memory at the start, in the middle, at the end and at most, in bytes. */
    watchMemory: (work) => watchMemory(child, work),
  };
}

/** An embedded one, or a database of the server that BENCH_DATABASE_URL names. */
export async function openPostgres() {
  const server = process.env.BENCH_DATABASE_URL;
  if (server) return createDatabase(server);
  const dataDir = mkdtempSync(join(tmpdir(), 'signpost-bench-'));
  chmodSync(dataDir, 0o755); // started by root, PostgreSQL runs as another user
  const { url, close } = await startEmbeddedPostgres({
    dataDir,
    logger: silentLogger(),
    settings: serverSettings,
  });
  return {
    url,
    async close() {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function createDatabase(server) {
  const name = `signpost_bench_${randomBytes(6).toString('hex')}`;
  await asAdmin(server, `create database ${name}`);
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    close: () => asAdmin(server, `drop database ${name} with (force)`),
  };
}

async function asAdmin(url, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

async function watchMemory(child, work) {
  child.send('measure');
  await work();
  child.send('measured');
  const [memory] = await once(child, 'message');
  return memory;
}

/** Signs requests, acknowledges what it receives, and passes each message to the code that waits for its messageId. */
async function startParticipant(id, database, { to, ignoresCallbacks }) {
  const seed = generateSeed();
  const key = { subscriberId: id, recordId: 'key-1', privateKey: privateKeyFromSeed(seed) };
  const waiting = new Map();
  const acknowledge = (response, messageId) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: { status: 'ACK', messageId } }));
  };
  const server = createServer(async (request, response) => {
    if (ignoresCallbacks) return request.resume().once('end', () => acknowledge(response, randomUUID()));
    const body = JSON.parse(await buffer(request));
    acknowledge(response, body.context.messageId);
    waiting.get(body.context.messageId)?.(body);
    waiting.delete(body.context.messageId);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  await register(database, { id, url, seed });
  /** A signed request to send later, so that signing need not be measured. */
  function prepare(action, message, side = 'bap') {
    const messageId = randomUUID();
    const context = {
      version: '2.0.0',
      action: action.name,
      messageId,
      transactionId: randomUUID(),
      timestamp: new Date().toISOString(),
      [`${side}Id`]: id,
      [`${side}Uri`]: url,
    };
    const body = Buffer.from(JSON.stringify({ context, message }));
    const callback =
      action.callback && !ignoresCallbacks && new Promise((resolve) => waiting.set(messageId, resolve));
    return { action, body, authorization: signRequest(key, body, { now: new Date() }), callback };
  }

  /** Resolves with the answer as soon as it begins, whatever its status. */
  function tryPost({ action, body, authorization }) {
    // Not fetch, which takes a millisecond of processor time that the service needs.
    return ask(`${to}${action.path}`, { method: 'POST', headers: { authorization }, body });
  }

  /** `callback` resolves later, if the action has one. */
  async function post(request) {
    const response = await tryPost(request);
    if (response.statusCode !== 200)
      throw new Error(`answered ${response.statusCode}: ${await response.body.text()}`);
    return { response, callback: request.callback };
  }

  const request = (action, message, side) => post(prepare(action, message, side));

  return {
    id,
    url,
    prepare,
    tryPost,
    post,
    request,
    async send(action, message, side) {
      const { response, callback } = await request(action, message, side);
      return { answer: await response.body.json(), callback };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function register(database, { id, url, seed }) {
  await registerParticipant(database, {
    namespace: id,
    registryName,
    subscriberId: id,
    url,
    networkIds: ['nfh.global/beckn-nodes'],
    key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(seed)) },
    replaceKey: true,
  });
}

export async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
