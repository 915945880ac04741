// The attacked services: registry, catalog service and discovery service, and the console if an attack needs it, as `signpost serve` starts them, on
// one PostgreSQL, with a market of coffee published by the honest provider. It is built once; each attack gets a copy of the database and new
// processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { silentLogger } from '../../dist/logger.js';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../../dist/protocol/keys.js';
import { openDatabase } from '../../dist/storage/database.js';
import { startEmbeddedPostgres } from '../../dist/storage/embedded/postgres.js';
import { registerParticipant } from '../../dist/storage/registry/participants.js';
import { startNameServer } from '../support/network/name-server.mjs';
import { startHonestClient } from './honest-client.mjs';
import { startProxy } from './proxy.mjs';

export const registryName = 'subscribers.beckn.one';
const network = 'nfh.global/beckn-nodes';
const attackerHost = '127.0.0.66';
/** Names below it are never answered; all others resolve to this machine, with a lifetime of a second. */
const slowZone = '.slow.test';
const commandLine = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const readyMs = 120_000;
/** What Node takes under the memory limit of deploy/helm. On a larger machine it would collect its garbage later, and its memory say little. */
const heapMb = 768;

/** Where nothing is measured, a busy machine must not refuse requests. */
export const patientSettings = { OVERLOAD_EVENT_LOOP_MS: '60000', DISCOVER_TIMEOUT_MS: '60000' };

/** `inOne`: all attacks share one scene, one after another; for a short run. */
export async function prepareScenes({ inOne = false } = {}) {
  const closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const dataDir = mkdtempSync(join(tmpdir(), 'signpost-attack-'));
    closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
    chmodSync(dataDir, 0o755); // when started by root, PostgreSQL runs as another user
    const postgres = process.env.ATTACK_DATABASE_URL
      ? { url: process.env.ATTACK_DATABASE_URL, close: async () => {} }
      : await startEmbeddedPostgres({ dataDir, logger: silentLogger() });
    closers.push(() => postgres.close());
    const template = await createDatabase(postgres.url, `signpost_attack_${process.pid}`);
    closers.push(template.drop);
    const ports = [];
    while (ports.length < 11) ports.push(await freePort());
    const people = nameParticipants(ports);
    await registerAll(template.url, people);
    const honest = await startHonestClient(people);
    closers.push(() => honest.close());
    const names = await startNameServer((name) =>
      name.endsWith(slowZone) ? 'silent' : { A: ['127.0.0.1'], ttlSeconds: 1 },
    );
    closers.push(() => names.stop());
    const home = { dataDir, people, honest, names };
    const first = await openScene(home, template, { settings: patientSettings, withConsole: inOne });
    closers.push(first.close);
    await honest.publishMarket(first);
    if (inOne) return { open: async () => ({ ...first, close: async () => {} }), close };
    await first.close();
    const copy = () =>
      createDatabase(postgres.url, `${template.name}_${Date.now()}`, `template ${template.name}`);
    const twinPort = ports.at(-1);
    return {
      /** `settings` of the roles, or a function of the participants that returns them, extend their defaults. */
      open: async (options = {}) => openScene(home, await copy(), options),
      /** A second discovery service, on an untouched copy of the database. */
      openTwin: async (options = {}) => openScene(home, await copy(), { ...options, twinPort }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openScene({ dataDir, people, honest, names }, database, options) {
  const { settings: given = {}, behindProxy = false, withConsole = false, twinPort } = options;
  const settings = typeof given === 'function' ? given(people) : given;
  const closers = database.isTemplate ? [] : [database.drop];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  const { registry, catalog, discovery } = people;
  const roles = {};
  async function start(role, own) {
    roles[role] = await startRole(role, {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      DNS_SERVERS: names.address,
      REGISTRY_URL: `http://registry.attack.test:${portOf(registry.url)}/dedi`,
      ALLOW_PRIVATE_ADDRESSES: 'true',
      ...(behindProxy && { TRUSTED_PROXIES: '127.0.0.77' }),
      ...own,
      ...settings,
    });
    roles[role].startAgain = async () => {
      await roles[role].end();
      await start(role, own);
    };
    closers.push(() => roles[role].end());
  }
  try {
    if (!twinPort) {
      await start('registry', { REGISTRY_PORT: portOf(registry.url) });
      await start('catalog', {
        CATALOG_ID: catalog.id,
        CATALOG_PRIVATE_KEY: catalog.seed,
        CATALOG_PORT: portOf(catalog.url),
      });
    }
    await start('discovery', {
      DISCOVERY_ID: discovery.id,
      DISCOVERY_PRIVATE_KEY: discovery.seed,
      DISCOVERY_PORT: String(twinPort ?? portOf(discovery.url)),
      DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl: catalog.url, networkIds: [network] }]),
    });
    if (withConsole) await start('console', { CONSOLE_PORT: portOf(people.console.url) });
    const { discovery: asked } = roles;
    const urls = {
      ...{ registryUrl: registry.url, catalogUrl: catalog.url, discoveryUrl: asked.url },
      consoleUrl: people.console.url,
    };
    /** The addresses for the attacker. */
    const attacked = { ...urls };
    // A proxy has several workers. The test is about the service behind it, not about how one worker divides its time between two clients.
    for (const worked of behindProxy ? [urls, attacked] : [])
      for (const name of ['catalogUrl', 'discoveryUrl']) {
        const worker = await startProxy(worked[name]);
        closers.push(worker.close);
        worked[name] = worker.url;
      }
    return { ...urls, attacked, people, honest, roles, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** All names, keys and addresses, which are the same in all scenes. */
function nameParticipants([
  registry,
  catalog,
  discovery,
  shopper,
  roaster,
  mallory,
  eve,
  operator,
  ivy,
  oscar,
]) {
  const participant = (name, port, host = '127.0.0.1') => ({
    id: `${name}.attack.test`,
    seed: generateSeed(),
    url: `http://${host}:${port}`,
  });
  return {
    registry: { url: `http://127.0.0.1:${registry}` },
    console: { url: `http://127.0.0.1:${operator}` },
    catalog: participant('catalog', catalog),
    discovery: participant('discovery', discovery),
    shopper: participant('shopper', shopper, 'shopper.attack.test'),
    roaster: participant('roaster', roaster, 'roaster.attack.test'),
    mallory: participant('mallory', mallory, attackerHost),
    eve: participant('eve', eve, attackerHost),
    sloth: participant('sloth', eve, `receiver${slowZone}`),
    ivy: participant('ivy', ivy, attackerHost),
    oscar: participant('oscar', oscar, attackerHost),
    /** They all receive callbacks at mallory's address. */
    crowd: Array.from({ length: 20 }, (_, index) => participant(`crowd-${index}`, mallory, attackerHost)),
  };
}

async function registerAll(url, { registry: _registry, console: _console, crowd, ...participants }) {
  const database = await openDatabase({ url, logger: silentLogger(), maxConnections: 2 });
  for (const { id, seed, url } of [...crowd, ...Object.values(participants)]) {
    await registerParticipant(database, {
      ...{ namespace: id, registryName, subscriberId: id, url, networkIds: [network] },
      key: { recordId: 'key-1', publicKey: publicKeyOf(privateKeyFromSeed(seed)) },
    });
  }
  await database.close();
}

async function startRole(role, settings) {
  const child = spawn(process.execPath, [commandLine, 'serve', '--roles', role], {
    cwd: settings.DATA_DIR, // so that no .env file is read
    env: {
      ...{ PATH: process.env.PATH, NODE_OPTIONS: `--max-old-space-size=${heapMb}` },
      ...{ LOG_LEVEL: 'warn', LOG_FORMAT: 'json', OPERATIONS_PORT: '0', ...settings },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit').finally(() => process.off('exit', kill));
  const log = [];
  createInterface(child.stderr).on('line', (line) => log.push(line) > 200 && log.shift());
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`${role} did not start:\n${log.join('\n')}`);
  const url = new URL(line[0].split(/\s+/)[1]).origin;
  await untilReady(role, url);
  return {
    url,
    log,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** The highest memory use so far, in MB; undefined unless the system reports it (Linux does). */
    peakMemoryMb() {
      try {
        const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
        return kilobytes && Math.round(Number(kilobytes) / 1024);
      } catch {
        return undefined;
      }
    },
    async end() {
      child.kill('SIGTERM');
      const given = delay(5_000, undefined, { ref: false }).then(kill);
      await Promise.race([exited, given]);
      await exited;
    },
  };
}

async function untilReady(role, url) {
  for (const end = Date.now() + readyMs; ; await delay(50)) {
    const response = await fetch(`${url}/ready`).catch(() => undefined);
    if (response?.ok) return;
    if (Date.now() > end) throw new Error(`${role} is not ready: ${await response?.text()}`);
  }
}

async function createDatabase(server, name, clause = '') {
  await asAdmin(server, `create database ${name} ${clause}`);
  return {
    name,
    isTemplate: clause === '',
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    drop: () => asAdmin(server, `drop database ${name} with (force)`),
  };
}

async function asAdmin(url, statement) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

function portOf(url) {
  return new URL(url).port;
}

/** Below the ports that a system assigns to connections, so that nobody else gets them meanwhile. */
let nextPort = 20_000 + Math.floor(Math.random() * 12_000);

async function freePort() {
  for (;;) {
    nextPort = nextPort === 32_000 ? 20_000 : nextPort + 1;
    const probe = createServer();
    const isFree = await new Promise((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(nextPort, '0.0.0.0', () => probe.close(() => resolve(true)));
    });
    if (isFree) return nextPort;
  }
}
