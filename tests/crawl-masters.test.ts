import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { crawl, logged } from './support/crawl.ts';
import { held } from './support/discovery.ts';
import { coffee, extending } from './support/masters.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from './support/network.ts';
import { type Provider, startProvider } from './support/provider.ts';

// Crawled catalogs that extend MASTER catalogs, of the same node or of another one. Nobody knows the schema of coffee, so that anything goes.

let network: TestNetwork;
let facilitator: Provider;
let shop: Provider;
let number = 0;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
});
afterAll(() => network?.close());

beforeEach(async () => {
  number += 1;
  facilitator = await startProvider(network, `facilitator-${number}`);
  shop = await startProvider(network, `shop-${number}`);
});
afterEach(async () => {
  await network.database.query(
    'update discovery.crawl_node set named = false, has_masters = false, due_at = null',
  );
  await network.database.query('update discovery.crawl_index set due_at = null, listed = false');
  await Promise.all([facilitator.stop(), shop.stop()]);
});

const bean = () => `bean-${number}`;
const masterId = () => `master-${number}`;
const regularId = () => `regular-${number}`;

function catalog(id: string, resources: object[]) {
  return {
    ...{ id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } } },
    resources: resources as never,
  };
}

function publishMaster(by: Provider, resources: object[], id = masterId()) {
  const publishDirectives = [{ catalogId: id, catalogType: 'MASTER' as const }];
  return by.publish({ message: { catalogs: [catalog(id, resources)], publishDirectives } });
}

/** Every resource extends the bean. */
function publishRegular(by: Provider, resources: { id: string }[]) {
  const resourceDirectives = resources.map(({ id }) => extending(id, bean()));
  const publishDirectives = [{ catalogId: regularId(), catalogType: 'REGULAR' as const, resourceDirectives }];
  return by.publish({ message: { catalogs: [catalog(regularId(), resources)], publishDirectives } });
}

const look = () => crawl(network.database);
const codes = (of = shop) => logged(network.database, of.identity);
const copy = () => held(network.database, regularId());
const attributes = async () =>
  (await copy())?.resources.map((resource: { resourceAttributes: object }) => resource.resourceAttributes);

describe('a crawled catalog that extends a MASTER catalog', () => {
  it('of its own node is served with what it inherits, in one go', async () => {
    await publishMaster(shop, [
      coffee(bean(), { roast: 'dark' }, { name: 'Bean', shortDesc: 'From the hills' }),
    ]);
    await publishRegular(shop, [{ id: 'r1', descriptor: { name: 'My bean' } }] as never);
    await look();
    expect(await codes()).toEqual([]);
    expect(await copy()).toMatchObject({
      served: true,
      resources: [
        {
          id: 'r1',
          descriptor: { name: 'My bean', shortDesc: 'From the hills' },
          resourceAttributes: { roast: 'dark' },
        },
      ],
    });
  });

  it('waiting-for-master: is not served before the master of another node has come', async () => {
    await publishRegular(shop, [coffee('r1', { grind: 'fine' })]);
    await look();
    expect(await codes()).toEqual(['waiting-for-master']);
    expect(await copy()).toBeUndefined();
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark', grind: 'fine' }]);
    expect(await copy()).toMatchObject({ served: true });
  });

  it('master-overridden: has the value of the template where it gives another one, which is told', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await publishRegular(shop, [coffee('r1', { roast: 'light', grind: 'fine' })]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark', grind: 'fine' }]);
    expect(await codes()).toContain('master-overridden');
  });
});

describe('a MASTER catalog that moves', () => {
  it('is followed by what extends it', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await publishRegular(shop, [coffee('r1', { grind: 'fine' }), coffee('r2')]);
    await look();
    await publishMaster(facilitator, [coffee(bean(), { roast: 'light', grind: 'coarse' })]);
    await look();
    expect(await attributes()).toMatchObject([
      { roast: 'light', grind: 'coarse' },
      { roast: 'light', grind: 'coarse' },
    ]);
    expect(await codes()).toContain('master-overridden');
    await publishMaster(facilitator, [coffee(bean(), { roast: 'light' })]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'light', grind: 'fine' }, { roast: 'light' }]);
  });

  it('leaves to its dependents what it drops', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' }), coffee('another')]);
    await publishRegular(shop, [coffee('r1')]);
    await look();
    await publishMaster(facilitator, [coffee('another')]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark' }]);
    await publishRegular(shop, [coffee('r1', { grind: 'fine' })]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark', grind: 'fine' }]);
  });
});
