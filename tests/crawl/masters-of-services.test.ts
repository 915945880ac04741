import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MasterDependency } from '../../src/protocol/signed-files.ts';
import { coffee, energy, extending, publishMaster } from '../support/catalogs/masters.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { consoleOf } from '../support/network/console.ts';
import { held, startDiscovery, type TestDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { until } from '../support/time.ts';

// Self-hosted catalogs that extend MASTER catalogs which the discovery service holds through a catalog service.

let network: TestNetwork;
let discovery: TestDiscovery;
let facilitator: Actor;
let shop: Provider;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
  facilitator = await network.actor('facilitator');
  shop = await startProvider(network, 'shop');
  const networkIds = [defaultNetwork, energy];
  discovery = await startDiscovery(network, [{ catalogUrl: network.catalogUrl, networkIds }], {
    DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
  });
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await shop?.stop();
  await network?.close();
});

const visibleTo = [defaultNetwork];

function publishBean(catalogId: string, bean: string, attributes: object, networks = visibleTo) {
  const one = catalog(catalogId, { resources: [coffee(bean, attributes)] });
  return publishMaster(facilitator, one, { visibleTo: networks });
}

function publishHosted(by: Provider, id: string, bean: string, masters?: MasterDependency[]) {
  const directive = { catalogId: id, catalogType: 'REGULAR' as const, visibleTo };
  const resourceDirectives = [extending(`${id}-1`, bean)];
  const dependencies = masters && { dependencies: { masters } };
  return by.publish({
    message: {
      catalogs: [catalog(id, { resources: [coffee(`${id}-1`, { grind: 'fine' })] })],
      publishDirectives: [{ ...directive, resourceDirectives, ...dependencies }],
    },
  });
}

async function isServedWith(id: string, attributes: Body): Promise<boolean> {
  const copy = await held(network.database, id);
  const has = copy?.resources[0]?.resourceAttributes ?? {};
  return copy?.served === true && Object.entries(attributes).every(([name, value]) => has[name] === value);
}

const untilServed = (id: string, attributes: Body) =>
  until(() => isServedWith(id, attributes), `${id} to be served with ${JSON.stringify(attributes)}`);

describe('a self-hosted catalog that extends a MASTER of a catalog service', () => {
  it('waits for it, is served with what it inherits as soon as it is pushed, and follows its changes', async () => {
    await publishHosted(shop, 'early', 'early-bean');
    await crawl(network.database);
    expect(await logged(network.database, shop.identity)).toEqual(['waiting-for-master']);
    await publishBean('early-templates', 'early-bean', { roast: 'dark' });
    await untilServed('early', { roast: 'dark', grind: 'fine' });
    await publishBean('early-templates', 'early-bean', { roast: 'light', grind: 'coarse' });
    await untilServed('early', { roast: 'light', grind: 'coarse' });
  });

  it('finds it where it was there before', async () => {
    await publishBean('late-templates', 'late-bean', { roast: 'dark' });
    await until(async () => (await held(network.database, 'late-templates')) !== undefined, 'the push');
    await publishHosted(shop, 'late', 'late-bean');
    await crawl(network.database);
    expect(await isServedWith('late', { roast: 'dark', grind: 'fine' })).toBe(true);
    const shown = await consoleOf(network).get(`/api/catalogs/${encodeURIComponent(shop.identity)}/late`);
    expect(shown).toMatchObject({ source: 'crawl', resourceDirectives: [extending('late-1', 'late-bean')] });
  });

  it('does not find it where they share no network', async () => {
    await publishBean('far-templates', 'far-bean', { roast: 'dark' }, [energy]);
    await until(async () => (await held(network.database, 'far-templates')) !== undefined, 'the push');
    await publishHosted(shop, 'far', 'far-bean');
    await crawl(network.database);
    expect(await held(network.database, 'far')).toBeUndefined();
    await publishBean('far-templates', 'far-bean', { roast: 'dark' }, [energy, defaultNetwork]);
    await untilServed('far', { roast: 'dark' });
  });

  it('keeps what it inherited while the master is gone, and follows it again when it comes back', async () => {
    await publishBean('back-templates', 'back-bean', { roast: 'dark' });
    await until(async () => (await held(network.database, 'back-templates')) !== undefined, 'the push');
    await publishHosted(shop, 'back', 'back-bean');
    await crawl(network.database);
    await discovery.stop();
    await discovery.start([]);
    await until(async () => (await held(network.database, 'back-templates')) === undefined, 'it to go');
    expect(await isServedWith('back', { roast: 'dark', grind: 'fine' })).toBe(true);
    await discovery.stop();
    await discovery.start();
    await discovery.settled();
    await publishBean('back-templates', 'back-bean', { roast: 'light' });
    await untilServed('back', { roast: 'light', grind: 'fine' });
    const { rows } = await network.database.query(
      `select uses, template -> 'resourceAttributes' ->> 'roast' as roast from discovery.crawl_inherited where master_resource_id = 'back-bean'`,
    );
    expect(rows).toEqual([{ uses: 1, roast: 'light' }]);
  });

  it('prefers the one that its entry declares to that of another node, and a crawled one otherwise', async () => {
    const guild = await startProvider(network, 'guild');
    try {
      await guild.publish({
        message: {
          catalogs: [catalog('guild-templates', { resources: [coffee('both-bean', { from: 'guild' })] })],
          publishDirectives: [{ catalogId: 'guild-templates', catalogType: 'MASTER', visibleTo }],
        },
      });
      await publishBean('both-templates', 'both-bean', { from: 'service' });
      await until(async () => (await held(network.database, 'both-templates')) !== undefined, 'the push');
      await crawl(network.database);
      await publishHosted(shop, 'declaring', 'both-bean', [{ catalogId: 'both-templates' }]);
      await publishHosted(shop, 'silent', 'both-bean');
      await crawl(network.database);
      expect(await isServedWith('declaring', { from: 'service' })).toBe(true);
      expect(await isServedWith('silent', { from: 'guild' })).toBe(true);
    } finally {
      await guild.stop();
    }
  });
});
