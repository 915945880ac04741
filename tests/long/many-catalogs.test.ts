import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/storage/embedded/postgres.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { countServed, seedCrawled } from '../support/hosted/crawled-catalogs.ts';
import { startDiscovery, type TestDiscovery, withoutDiscovery } from '../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type PlayedService, playService } from '../support/network/played-service.ts';
import { makeDataDir } from '../support/processes/up-process.ts';

// Other participants decide how many catalogs there are: the settings may drop a network with all of its catalogs, and a service may push or withdraw
// any number at once. PostgreSQL has room for some thousand locks of all transactions together, so no transaction may lock everything that it
// changes. This server has room for some 2,400.

const crawledCatalogs = 100_000;
const pushedCatalogs = 3_000;
const retail = 'a.example/retail';
const energy = 'b.example/energy';

let home: Awaited<ReturnType<typeof makeDataDir>>;
let server: EmbeddedPostgres;
let network: TestNetwork;

beforeAll(async () => {
  home = await makeDataDir();
  server = await startEmbeddedPostgres({
    dataDir: home.dataDir,
    logger: silentLogger(),
    settings: { max_locks_per_transaction: '10', max_connections: '60', fsync: 'off' },
  });
  network = await startNetwork({
    database: { url: server.url, drop: async () => undefined },
    settings: withoutDiscovery,
  });
});
afterAll(async () => {
  await network?.close();
  await server?.close();
  await home?.remove();
});

describe('with more crawled catalogs than PostgreSQL has locks', () => {
  const crawling = (networks: string[], UNCONFIRMED: string) =>
    startDiscovery(network, [], { DISCOVERY_NETWORKS: JSON.stringify(networks), UNCONFIRMED });

  it('a discovery service hides and shows all of them when the settings say so', async () => {
    await (await crawling([retail, energy], 'serve')).stop();
    await seedCrawled(network.database, { network: retail, nodes: 100, ofEach: crawledCatalogs / 100 });
    for (const [networks, unconfirmed, served] of [
      [[retail, energy], 'hide', 0],
      [[retail, energy], 'serve', crawledCatalogs],
      [[energy], 'serve', 0],
    ] as const) {
      const discovery = await crawling([...networks], unconfirmed);
      expect(await countServed(network.database, 'node')).toBe(served);
      await discovery.stop();
    }
  });
});

describe('with two catalog services that both have more catalogs than PostgreSQL has locks', () => {
  let discovery: TestDiscovery;
  let first: PlayedService;
  let second: PlayedService;
  let stranger: PlayedService;
  const catalogs = Array.from({ length: pushedCatalogs }, (_, index) =>
    catalog(`many-${index}`, { bppId: 'shop.example', resources: [] }),
  );
  const feedOf = ({ actor }: PlayedService) => ({ catalogUrl: actor.url, networkIds: [retail] });
  const servedOf = ({ identity }: PlayedService) => countServed(network.database, `service:${identity}`);

  beforeAll(async () => {
    const to = () => discovery.url;
    first = await playService(network, 'first', to);
    second = await playService(network, 'second', to);
    stranger = await playService(network, 'stranger', to);
    discovery = await startDiscovery(network, [feedOf(first), feedOf(second)]);
    await discovery.settled();
  });
  afterAll(() => discovery?.stop());

  it('a discovery service applies a push of all of them, and answers a stranger that it wants none', async () => {
    const directive = { visibleTo: [retail] };
    expect((await second.push(catalogs, directive)).status).toBe(200);
    expect((await first.push(catalogs, directive)).status).toBe(200);
    expect((await stranger.push(catalogs, directive)).status).toBe(202);
    expect([await servedOf(first), await servedOf(second)]).toEqual([pushedCatalogs, 0]);
  });

  it('it serves the copies of the other service when the settings name that first', async () => {
    await discovery.stop();
    await discovery.start([feedOf(second), feedOf(first)]);
    expect([await servedOf(first), await servedOf(second)]).toEqual([0, pushedCatalogs]);
  });

  it('it forgets all that two complete pulls do not list, and all of a service that is not subscribed to any more', async () => {
    second.catalogs = catalogs.slice(0, 1);
    await discovery.pull();
    await discovery.pull();
    expect([await servedOf(first), await servedOf(second)]).toEqual([0, 1]);
    await first.push(catalogs, { visibleTo: [retail] });
    expect([await servedOf(first), await servedOf(second)]).toEqual([pushedCatalogs - 1, 1]);
    await discovery.stop();
    await discovery.start([feedOf(second)]);
    await discovery.settled();
    expect([await servedOf(first), await servedOf(second)]).toEqual([0, 1]);
  });
});
