import { performance } from 'node:perf_hooks';
import { expect } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { endLeases } from '../support/database/leases.ts';
import { freePort } from '../support/free-port.ts';
import { rouse, settled } from '../support/hosted/crawl.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { type ServiceProcess, startServiceProcess } from '../support/processes/service-process.ts';
import { takeTime, until } from '../support/time.ts';
import type { FaultRun, Outcome } from './fault-run.ts';

// Crawlers in separate processes, and the providers that they crawl. The content of every version of every catalog is known, so the index can be
// compared with the cursor at any moment.

export interface CrawledProviders {
  network: TestNetwork;
  providers: Provider[];
  /** Publishes another version of every catalog of every provider. */
  publishAll(): Promise<void>;
  startCrawler(): Promise<ServiceProcess>;
  /** Expects each catalog to be complete in the version of its cursor, or absent. Returns how many have the latest version. */
  expectWhole(): Promise<number>;
  end(): Promise<void>;
}

export async function startProviders(count: number, catalogsEach: number): Promise<CrawledProviders> {
  const network = await startNetwork({ settings: { ROLES: 'registry' } });
  const { database } = network;
  const providers = await Promise.all(
    Array.from({ length: count }, (_, index) => startProvider(network, `crawled-${index}`)),
  );
  /** By catalog, the names of its resources in each version. */
  const published = new Map<string, Map<number, Record<string, string>>>();
  const crawlers: ServiceProcess[] = [];
  let round = 0;

  async function publish(provider: Provider, id: string): Promise<void> {
    const names = namesIn(round);
    const catalog = {
      ...{ id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } } },
      resources: Object.entries(names).map(([resource, name]) => ({ id: resource, descriptor: { name } })),
    };
    const { results } = await provider.publish({ message: { catalogs: [catalog] } });
    const versions = published.get(id) ?? new Map<number, Record<string, string>>();
    published.set(id, versions.set(results[0]?.version ?? 0, names));
  }

  return {
    network,
    providers,
    async publishAll() {
      round += 1;
      await Promise.all(
        providers.map(async (provider, index) => {
          for (let number = 0; number < catalogsEach; number += 1)
            await publish(provider, `catalog-${index}-${number}`);
        }),
      );
    },
    async startCrawler() {
      const crawler = await startServiceProcess('discovery', await settingsOf(network));
      crawlers.push(crawler);
      return crawler;
    },
    async expectWhole() {
      let latest = 0;
      const cursors = await cursorsOf(database);
      for (const [id, versions] of published) {
        const version = cursors.get(id) ?? 0;
        const copy = await held(database, id);
        const names = copy && Object.fromEntries(copy.resources.map(nameOf));
        expect(names, `${id} in version ${version}`).toEqual(versions.get(version));
        if (version === Math.max(...versions.keys())) latest += 1;
      }
      return latest;
    },
    async end() {
      await Promise.all(crawlers.map((crawler) => crawler.kill()));
      await Promise.all(providers.map((provider) => provider.stop()));
      await network.close();
    },
  };
}

/** Kills crawlers at random moments while they follow a new version of everything; the last one survives and catches up. */
export async function crawlThroughKills(
  run: FaultRun,
  { nodes, catalogs, kills }: { nodes: number; catalogs: number; kills: number },
): Promise<Outcome> {
  const crawled = await startProviders(nodes, catalogs);
  const { network, providers, publishAll, startCrawler, expectWhole } = crawled;
  const served = () => providers.reduce((sum, { requests }) => sum + requests.length, 0);
  let killedAt = 0;
  try {
    for (let life = 0; life < kills; life += 1) {
      await publishAll();
      const before = served();
      const crawler = await startCrawler();
      await rouse(network.database);
      if (life > 0) await run.recover(killedAt, () => until(() => served() > before, 'the crawl to go on'));
      // Somewhere between the first manifest and the last file.
      const moment = before + run.between(0, nodes * (2 + catalogs));
      await until(() => served() >= moment, 'the crawl to begin', 10_000).catch(() => undefined);
      await takeTime(run.between(0, 30));
      await crawler.kill();
      killedAt = performance.now();
      run.count();
      await expectWhole();
      await endLeases(network.database);
    }
    // Without a wake-up: the remaining work is due in the database.
    const last = await startCrawler();
    await settled(network.database);
    const lost = nodes * catalogs - (await expectWhole());
    const { rows: faults } = await network.database.query(
      "select code, message from discovery.crawl_log where node like 'crawled-%'",
    );
    expect(faults).toEqual([]);
    const { rows: twins } = await network.database.query(
      "select id from discovery.catalog where provider_id <> '' group by id having count(*) > 1",
    );
    await last.stop();
    return { acknowledged: kills * nodes * catalogs, lost, appliedTwice: twins.length };
  } finally {
    await crawled.end();
  }
}

/** In each round, one resource goes, one comes, and some get another name. */
function namesIn(round: number): Record<string, string> {
  const numbers = Array.from({ length: 10 }, (_, index) => round + index);
  return Object.fromEntries(
    numbers.map((number) => [`r${number}`, `Tea ${number} of ${Math.max(round, number)}`]),
  );
}

function nameOf({ id, descriptor }: { id: string; descriptor: { name: string } }): [string, string] {
  return [id, descriptor.name];
}

async function cursorsOf(database: Database): Promise<Map<string, number>> {
  const { rows } = await database.query<{ id: string; version: number }>(
    'select catalog_id as id, version from discovery.crawl_target where version is not null',
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

async function settingsOf({ config, databaseUrl }: TestNetwork): Promise<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: config.DATA_DIR,
    REGISTRY_URL: config.registryUrl,
    DISCOVERY_ID: config.identities.discovery.id,
    DISCOVERY_PORT: String(await freePort()),
    DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
    ALLOW_PRIVATE_ADDRESSES: 'true',
  };
}
