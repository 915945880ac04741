import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceDirective } from '../../src/protocol/publish-messages.ts';
import { hostTable } from '../../src/storage/crawl/hosts.ts';
import { coffee, extending } from '../support/catalogs/masters.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';
import { star } from '../support/values/costly-geometries.ts';

// Crawled catalogs that extend MASTER catalogs, of the same node or of another one. There is no schema of coffee, so all attributes are valid.

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
  // Nodes that the registry still names are found again, but their hosts are gone.
  await network.database.query('delete from discovery.crawl_node');
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
function publishRegular(
  by: Provider,
  resources: { id: string }[],
  variants: Record<string, ResourceDirective['variant']> = {},
) {
  const resourceDirectives = resources.map(({ id }) => extending(id, bean(), variants[id]));
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
    await publishMaster(shop, [coffee(bean(), { roast: 'dark' }, { shortDesc: 'From the hills' })]);
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

  it('schema-violation: is not served where a geometry, of which it inherits a part, is too costly to search among', async () => {
    const { type, coordinates } = star(101) as { type: string; coordinates: unknown };
    await publishMaster(facilitator, [coffee(bean(), { area: { type } })]);
    await look();
    await publishRegular(shop, [coffee('r1', { area: { coordinates } })]);
    await look();
    expect(await codes()).toEqual(['schema-violation']);
    expect(await copy()).toBeUndefined();
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

  it('stays as it was while a new version of it waits for a master', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await publishRegular(shop, [coffee('r1')]);
    await look();
    const changed = catalog(regularId(), [coffee('r1'), coffee('r2')]);
    const resourceDirectives = [extending('r1', bean()), extending('r2', 'unheard-of')];
    const publishDirectives = [
      { catalogId: regularId(), catalogType: 'REGULAR' as const, resourceDirectives },
    ];
    await shop.publish({ message: { catalogs: [changed], publishDirectives } });
    await look();
    expect(await codes()).toContain('waiting-for-master');
    expect(await attributes()).toHaveLength(1);
    expect(await cursor()).toEqual({ version: 1, waiting_for: ['unheard-of'] });
    await publishMaster(facilitator, [coffee('unheard-of', { roast: 'light' })], `new-${number}`);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark' }, { roast: 'light' }]);
    expect(await cursor()).toEqual({ version: 2, waiting_for: null });
  });

  it('fetches its files once, not at every attempt, while it waits', async () => {
    await publishRegular(shop, [coffee('r1')]);
    await look();
    shop.requests.length = 0;
    await look();
    expect(shop.requests.filter(({ path }) => path.startsWith('/catalogs/'))).toEqual([]);
  });

  it('prefers a master of its own node to that of another', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await look();
    await publishMaster(shop, [coffee(bean(), { roast: 'light' })], `own-${number}`);
    await publishRegular(shop, [coffee('r1')]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'light' }]);
  });

  it('schema-violation: is not applied when it does not conform to its domain schema with all that it inherits', async () => {
    await publishMaster(facilitator, [charger(bean(), { type: 'EV_CHARGER' })]);
    await publishRegular(shop, [charger('r1', {})]);
    await look();
    expect(await codes()).toContain('schema-violation');
    expect(await copy()).toBeUndefined();
    await publishRegular(shop, [charger('r1', { id: 'C-1' })]);
    await look();
    expect(await attributes()).toMatchObject([{ id: 'C-1', type: 'EV_CHARGER' }]);
  });

  it('bad-directive: is not applied when one of its resources becomes the variant that another one is', async () => {
    await publishMaster(facilitator, [coffee(bean())]);
    const many = Array.from({ length: 20 }, (_, index) => coffee(`r${index}`));
    await publishRegular(shop, many);
    await look();
    // Our publisher would never do this: it keeps variants apart.
    await network.database.query(
      "update discovery.crawl_extension set directive = $1 where resource_id = 'r1'",
      [JSON.stringify({ extends: { masterResourceId: bean() }, variant: { type: 'geo', id: 'hills' } })],
    );
    await publishRegular(shop, [...many, coffee('r20')], { r20: { type: 'geo', id: 'hills' } });
    await look();
    expect(await codes()).toContain('bad-directive');
    expect(await attributes()).toHaveLength(20);
  });

  async function cursor() {
    const { rows } = await network.database.query(
      'select version, waiting_for from discovery.crawl_target where catalog_id = $1',
      [regularId()],
    );
    return rows[0];
  }
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

  it('leaves to its dependents what they have when it is retired', async () => {
    await publishMaster(facilitator, [coffee(bean(), { roast: 'dark' })]);
    await publishRegular(shop, [coffee('r1')]);
    await look();
    await facilitator.publish({ retire: [masterId()] });
    await look();
    await publishRegular(shop, [coffee('r1', { grind: 'fine' })]);
    await look();
    expect(await attributes()).toMatchObject([{ roast: 'dark', grind: 'fine' }]);
    expect(await copy()).toMatchObject({ served: true });
  });

  it('and what extends it end up in line, however their crawls cross', async () => {
    await publishMaster(facilitator, [coffee(bean(), { round: 0 })]);
    const resources = (round: number) =>
      Array.from({ length: 30 }, (_, index) => coffee(`r${index}`, { own: round }));
    await publishRegular(shop, resources(0));
    await look();
    for (let round = 1; round <= 8; round += 1) {
      await Promise.all([
        publishMaster(facilitator, [coffee(bean(), { round })]),
        publishRegular(shop, resources(round)),
      ]);
      // Not awaited, so that the next round overlaps with it.
      if (round % 2 === 1) await touch();
      else await look();
    }
    await look();
    expect(await attributes()).toEqual(resources(8).map(() => expect.objectContaining({ round: 8, own: 8 })));
  });

  async function touch() {
    await network.database.transaction(async (tx) => {
      await tx.query('update discovery.crawl_index set due_at = now(), stir = stir + 1 where listed');
      await tx.query('update discovery.crawl_host set due_at = now()');
      tx.hint(hostTable);
    });
  }
});

function charger(id: string, attributes: object) {
  const context = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';
  return {
    id,
    resourceAttributes: { '@context': context, '@type': 'EnergyResourceEVCharger', ...attributes },
  };
}
