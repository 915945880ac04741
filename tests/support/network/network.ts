import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, type DemoNetwork, readConfig } from '../../../src/config.ts';
import { createGuardedClient } from '../../../src/http/guarded-client.ts';
import { type Logger, silentLogger } from '../../../src/logger.ts';
import { type Process, startProcess } from '../../../src/main.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { identityOf, splitIdentity } from '../../../src/protocol/identity.ts';
import { publicKeyOf } from '../../../src/protocol/keys.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/registry/client.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import type { Database } from '../../../src/storage/database.ts';
import { registerParticipant } from '../../../src/storage/registry/participants.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { freePort } from '../free-port.ts';
import { type Actor, startActor } from './actor.ts';

// A whole network in this process: a new database, the roles exactly as `signpost serve` starts them, on free ports, and participants with real
// servers and real keys.

export const defaultNetwork = 'nfh.global/beckn-nodes';

export interface TestNetwork {
  config: Config;
  database: Database;
  databaseUrl: string;
  registry: RegistryClient;
  catalogUrl: string;
  discoveryUrl: string;
  /** A registered participant with a server. */
  actor(name: string, registration?: Registration): Promise<Actor>;
  /** Stops the roles as a deployment would, and starts them again. `between` runs while they are stopped. */
  restart(between?: () => Promise<void>): Promise<void>;
  /** Stops the roles for good; participants continue. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface Registration {
  networks?: string[];
  url?: string | null;
  /** How long others may cache its key. */
  ttlSeconds?: number;
}

export async function startNetwork(
  options: {
    settings?: Record<string, string>;
    logger?: Logger;
    database?: TestDatabase;
    now?: () => Date;
    /** As `signpost up` sets it. */
    demo?: DemoNetwork;
  } = {},
): Promise<TestNetwork> {
  const { logger = silentLogger(), now } = options;
  const testDatabase = options.database ?? (await createTestDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), 'signpost-test-'));
  const ports = await Promise.all(Array.from({ length: 6 }, freePort));
  const [registryPort, catalogPort, discoveryPort, publisherPort, triggerPort, consolePort] = ports;
  const settings = readConfig({
    DATABASE_URL: testDatabase.url,
    DATA_DIR: dataDir,
    // Tests that need a publisher start one: the services do not need it to work together.
    ROLES: 'registry,catalog,discovery',
    REGISTRY_PORT: String(registryPort),
    CATALOG_PORT: String(catalogPort),
    DISCOVERY_PORT: String(discoveryPort),
    PUBLISHER_PORT: String(publisherPort),
    PUBLISHER_TRIGGER_PORT: String(triggerPort),
    CONSOLE_PORT: String(consolePort),
    // Tests play discovery services themselves; tests of the role name their own actors.
    DISCOVERY_ID: 'discovery-service.signpost.test',
    ALLOW_PRIVATE_ADDRESSES: 'true',
    // The networks of the tests have no facilitators; tests of the default set it.
    MASTER_PUBLISHERS: '*',
    RETRY_BASE_MS: '50',
    // All participants and the tests share this process, so its event loop says nothing about a service.
    OVERLOAD_EVENT_LOOP_MS: '60000',
    ...options.settings,
  });
  const config: Config = { ...settings, ...(options.demo && { demo: options.demo }) };
  const actors: Actor[] = [];
  const client = createGuardedClient({ allowPrivateAddresses: true, nameServers: config.DNS_SERVERS });
  const registry = createRegistryClient({
    url: config.registryUrl,
    registryName: config.REGISTRY_NAME,
    client,
    logger,
    metrics: createMetrics(),
  });

  let isStopped = false;
  let running: Process = await startProcess(config, { logger, now, prepare: registerServices });

  async function registerServices(database: Database): Promise<void> {
    for (const service of Object.values(config.identities)) {
      const key = loadOrCreateSigningKey(dataDir, service);
      const registered = { ...service, keyId: key.recordId, publicKey: publicKeyOf(key.privateKey) };
      await register(database, registered, config);
    }
  }

  return {
    config,
    get database() {
      return databaseOf(running);
    },
    databaseUrl: testDatabase.url,
    registry,
    catalogUrl: config.identities.catalog.url,
    discoveryUrl: config.identities.discovery.url,
    async actor(name, { networks = [defaultNetwork], url, ttlSeconds } = {}) {
      const id = `${name}.signpost.test`;
      const actor = await startActor({
        id,
        registry: () => registry,
        defaultTarget: () => config.identities.catalog.url,
      });
      actors.push(actor);
      const registered = url === null ? undefined : (url ?? actor.url);
      await register(
        databaseOf(running),
        { id, keyId: 'key-1', url: registered, publicKey: actor.publicKey, ttlSeconds },
        config,
        networks,
      );
      return actor;
    },
    async restart(between) {
      await running.close();
      await between?.();
      running = await startProcess(config, { logger, now });
    },
    async stop() {
      isStopped = true;
      await running.close();
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.stop()));
      if (!isStopped) await running.close();
      await client.close();
      await testDatabase.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function register(
  database: Database,
  participant: { id: string; keyId: string; url?: string; publicKey: string; ttlSeconds?: number },
  { REGISTRY_NAME }: Config,
  networkIds: string[] = [defaultNetwork],
): Promise<void> {
  await registerParticipant(database, {
    ...splitIdentity(identityOf(participant.id, REGISTRY_NAME)),
    subscriberId: participant.id,
    url: participant.url,
    networkIds,
    key: {
      recordId: participant.keyId,
      publicKey: participant.publicKey,
      ttlSeconds: participant.ttlSeconds,
    },
  });
}

function databaseOf({ database }: Process): Database {
  if (!database) throw new Error('no role of this network keeps anything in a database');
  return database;
}
