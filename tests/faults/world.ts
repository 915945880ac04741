import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { type Line, openLine } from '../support/database/severed-line.ts';
import { freePort } from '../support/free-port.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import type { Actor } from '../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { type Receiver, startReceiver } from '../support/network/receiver.ts';
import {
  type ServiceProcess,
  startCatalogProcess,
  startServiceProcess,
} from '../support/processes/service-process.ts';

// All participants that a fault can hit: registry, catalog service and discovery service in separate processes, from the built files; their database
// and their registry, each behind a connection that can fail; publishers, a discovery service and a consumer played by the tests, and nodes that
// publish signed files.

export const publishedNetwork = 'a.example/retail';
const crawledNetwork = 'b.example/nodes';

export interface World {
  /** Its process runs the registry if every role has one process. */
  network: TestNetwork;
  databaseLine: Line;
  /** The proxy between the services and the registry. */
  registryProxy: TamperingProxy;
  registry: Role;
  catalog: Role;
  discovery: Role;
  publishers: Actor[];
  /** Publishes after a fault, to find the first publish that succeeds. */
  probe: Actor;
  receiver: Receiver;
  consumer: Actor;
  nodes: Provider[];
  /** Temporary statuses: senders that get one send the same message again. */
  passing: Set<number>;
  close(): Promise<void>;
}

export interface Role {
  /** In front of its processes, like a load balancer. */
  line: Line;
  processes: ServiceProcess[];
  /** Replaces a process that has ended. */
  start(index: number): Promise<void>;
}

export interface WorldOptions {
  database?: TestDatabase;
  publishers?: number;
  nodes?: number;
  /** Processes of each role. */
  processes?: number;
  settings?: Record<string, string>;
  /** How long the services may cache the keys of participants. */
  ttlSeconds?: number;
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { publishers = 6, nodes = 2, processes = 1, settings = {}, ttlSeconds } = options;
  const home = options.database ?? (await createTestDatabase());
  const databaseLine = await openLine(home.url);
  const database = {
    url: through(databaseLine, home.url),
    async drop() {
      await databaseLine.close();
      await home.drop();
    },
  };
  const network = await startNetwork({ database, settings: { ROLES: 'registry' } });
  const { databaseUrl, config } = network;
  const registries = processes > 1 ? processes : 0;
  const registry = await startRole(`http://127.0.0.1:${await freePort()}`, registries, (port) =>
    startServiceProcess('registry', {
      DATABASE_URL: databaseUrl,
      DATA_DIR: config.DATA_DIR,
      REGISTRY_PORT: port,
    }),
  );
  if (registries === 0) registry.line.leadTo(`http://127.0.0.1:${config.REGISTRY_PORT}`);
  const registryProxy = await startTamperingProxy();
  registryProxy.passTo(registry.line.url);
  const all = { ...settings, REGISTRY_URL: `${registryProxy.url}/dedi` };
  const catalog = await startRole(network.catalogUrl, processes, (port) =>
    startCatalogProcess(network, {
      ...{ CATALOG_PORT: port, CATALOG_URL: network.catalogUrl },
      // Pulls are offered as downloads.
      PULL_INLINE_LIMIT: '10kb',
      ...all,
    }),
  );
  const discovery = await startRole(network.discoveryUrl, processes, (port) =>
    startServiceProcess('discovery', { ...discoverySettings(network, port), ...all }),
  );
  const receiver = await startReceiver(network, 'ds', { ttlSeconds });
  await receiver.subscribe({ networkIds: [publishedNetwork] });
  const started = await Promise.all(
    Array.from({ length: nodes }, (_, index) =>
      startProvider(network, `node-${index}`, { networks: [crawledNetwork] }),
    ),
  );
  return {
    ...{ network, databaseLine, registryProxy, registry, catalog, discovery, receiver, nodes: started },
    publishers: await Promise.all(
      Array.from({ length: publishers }, (_, index) => network.actor(`publisher-${index}`, { ttlSeconds })),
    ),
    probe: await network.actor('probe', { ttlSeconds }),
    consumer: await network.actor('shopper', { ttlSeconds }),
    passing: new Set([429, 503]),
    async close() {
      for (const role of [registry, catalog, discovery]) {
        await role.line.close();
        await Promise.all(role.processes.map((process) => process.kill()));
      }
      await network.close();
      await Promise.all(started.map((node) => node.stop()));
      await registryProxy.stop();
    },
  };
}

/** The address of a database behind a line. */
export function through({ url }: Line, database: string): string {
  const { hostname, port } = new URL(url);
  return Object.assign(new URL(database), { hostname, port }).href;
}

async function startRole(
  address: string,
  count: number,
  startOne: (port: string) => Promise<ServiceProcess>,
): Promise<Role> {
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const line = await openLine('', { port: Number(new URL(address).port) });
  line.leadTo(...ports.map((port) => `http://127.0.0.1:${port}`));
  const processes = await Promise.all(ports.map((port) => startOne(`${port}`)));
  return {
    line,
    processes,
    async start(index) {
      processes[index] = await startOne(`${ports[index]}`);
    },
  };
}

function discoverySettings(network: TestNetwork, port: string): Record<string, string> {
  const { config, databaseUrl, catalogUrl, discoveryUrl } = network;
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    DISCOVERY_ID: config.identities.discovery.id,
    DISCOVERY_PORT: port,
    DISCOVERY_URL: discoveryUrl,
    DISCOVERY_SUBSCRIPTIONS: JSON.stringify([{ catalogUrl, networkIds: [publishedNetwork] }]),
    DISCOVERY_NETWORKS: JSON.stringify([crawledNetwork]),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    RETRY_BASE_MS: '50',
    RATE_LIMIT_PER_SECOND: '0',
    TIME_LIMIT_MS_PER_SECOND: '0',
    BYTE_LIMIT_PER_SECOND: '0',
    // The tests must not be refused because the machine is busy.
    OVERLOAD_EVENT_LOOP_MS: '60000',
  };
}
