import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceDirective } from '../../src/protocol/publish-messages.ts';
import { readLog } from '../../src/storage/crawl/log.ts';
import { coffee, extending } from '../support/catalogs/masters.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';

// Inherited bytes of crawled resources are limited like those of published ones: a catalog that inherits too much is not applied.

const kibibyte = 1024;

let network: TestNetwork;
let facilitator: Provider;
let shop: Provider;
let number = 0;

function useNetwork(settings: Record<string, string>): void {
  beforeAll(async () => {
    const networks = JSON.stringify([defaultNetwork]);
    network = await startNetwork({ settings: { ...settings, DISCOVERY_NETWORKS: networks } });
  });
  afterAll(() => network?.close());
  beforeEach(async () => {
    number += 1;
    facilitator = await startProvider(network, `facilitator-${number}`);
    shop = await startProvider(network, `shop-${number}`);
  });
  afterEach(async () => {
    await expectCounted();
    // A node that the registry still names is found again, but its host is gone.
    await network.database.query('delete from discovery.crawl_node');
    await Promise.all([facilitator.stop(), shop.stop()]);
  });
}

const bean = () => `bean-${number}`;

function publishMaster(bytes: number, attributes: object = {}) {
  const id = `master-${number}`;
  const template = coffee(bean(), { ...attributes, text: 'x'.repeat(bytes) });
  const publishDirectives = [{ catalogId: id, catalogType: 'MASTER' as const }];
  return facilitator.publish({ message: { catalogs: [catalogOf(id, [template])], publishDirectives } });
}

/** Extends the bean `count` times; `others` extend nothing. */
function publishShop(name: string, count: number, others: object[] = [], forceBaseline = false) {
  return shop.publish({ message: shopMessage([name], count, others), forceBaseline });
}

function shopMessage(catalogIds: string[], count: number, others: object[] = []) {
  const resources = Array.from({ length: count }, (_, index) => ({ id: `r${index}` }));
  const resourceDirectives: ResourceDirective[] = resources.map(({ id }) => extending(id, bean()));
  return {
    catalogs: catalogIds.map((id) => catalogOf(id, [...others, ...resources])),
    publishDirectives: catalogIds.map((catalogId) => ({
      ...{ catalogId, catalogType: 'REGULAR' as const, resourceDirectives },
    })),
  };
}

function catalogOf(id: string, resources: object[]) {
  return {
    ...{ id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } } },
    resources: resources as never,
  };
}

const look = () => crawl(network.database);
const copyOf = (name: string) => held(network.database, name);
const idsOf = async (name: string) => (await copyOf(name))?.resources.map(({ id }: Body) => id).sort();
const editions = async (name: string) =>
  (await copyOf(name))?.resources.map(({ resourceAttributes }: Body) => resourceAttributes?.edition).sort();
const names = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`).sort();

/** The sums equal the rows. */
async function expectCounted(): Promise<void> {
  const { rows } = await network.database.query(
    `select target_id, master_resource_id, uses, counted.count
     from discovery.crawl_inherited full join (
       select target_id, master_key, master_resource_id, edition, count(*) from discovery.crawl_extension group by 1, 2, 3, 4
     ) as counted using (target_id, master_key, master_resource_id, edition)
     where uses is distinct from counted.count`,
  );
  expect(rows).toEqual([]);
  const { rows: sums } = await network.database.query(
    `select catalog_id from discovery.crawl_target as target
     where inherited_bytes <> (select coalesce(sum(bytes * uses), 0) from discovery.crawl_inherited where target_id = target.id)`,
  );
  expect(sums).toEqual([]);
}

describe('with limits of a few kibibytes', () => {
  useNetwork({
    INHERITED_RESOURCE_LIMIT: '3kb',
    INHERITED_CATALOG_LIMIT: '8kb',
    INHERITED_PUBLISH_LIMIT: '1kb',
    INHERITED_PUBLISHER_LIMIT: '12kb',
  });

  it('inherits-too-much: a catalog with a resource that would inherit more than one may is not applied, and told why', async () => {
    const name = `too-large-${number}`;
    await publishMaster(4 * kibibyte);
    await publishShop(name, 1, [{ id: 'own' }]);
    await look();
    expect(await copyOf(name)).toBeUndefined();
    const { lines } = await readLog(network.database, {
      node: shop.identity,
      catalogId: name,
      limit: 9,
      offset: 0,
    });
    const line = lines.find(({ code }) => code === 'inherits-too-much');
    expect(line).toMatchObject({ catalogId: name, indexUrl: expect.any(String) });
    expect(line?.message).toMatch(
      new RegExp(
        `^${name} inherits too much: r0 would inherit 4\\d{3} bytes of the master resource ${bean()}; at most 3072 are allowed\\.$`,
      ),
    );
    expect(line?.hint).toMatch(/^Extend smaller templates/);

    await publishMaster(2 * kibibyte);
    await look();
    expect(await idsOf(name)).toEqual(['own', 'r0']);
  });

  it('inherits-too-much: a catalog that would inherit more than one may stays as it was, by a change or a baseline', async () => {
    const name = `crowded-${number}`;
    await publishMaster(2_000);
    await publishShop(name, 3);
    await look();
    expect(await idsOf(name)).toEqual(names(3));
    for (const forceBaseline of [false, true]) {
      await publishShop(name, forceBaseline ? 5 : 4, [], forceBaseline);
      await look();
      expect(await logged(network.database, shop.identity)).toContain('inherits-too-much');
      expect(await idsOf(name)).toEqual(names(3));
    }
    await publishShop(name, 2);
    await look();
    expect(await idsOf(name)).toEqual(names(2));
    await publishShop(name, 0, [{ id: 'own' }]);
    await look();
    expect(await idsOf(name)).toEqual(['own']);
  });

  it('inherits-too-much: catalogs of one node inherit no more together than a publisher may', async () => {
    const [first, second] = [`first-${number}`, `second-${number}`];
    await publishMaster(2_000);
    await publishShop(first, 3);
    await look();
    await publishShop(second, 3);
    await look();
    expect(await idsOf(first)).toEqual(names(3));
    expect(await copyOf(second)).toBeUndefined();
    await publishShop(first, 1);
    await look();
    await look();
    expect(await idsOf(second)).toEqual(names(3));
  });

  it('inherits-too-much: two catalogs of one node that come at the same time inherit no more together, either', async () => {
    const both = [`left-${number}`, `right-${number}`];
    await publishMaster(2_000);
    await look();
    await shop.publish({ message: shopMessage(both, 3) });
    await look();
    const copies = await Promise.all(both.map(copyOf));
    expect(copies.filter((copy) => copy !== undefined)).toHaveLength(1);
    expect(await logged(network.database, shop.identity)).toContain('inherits-too-much');
  });

  it('a catalog can change while its master has outgrown it: its resources keep what they inherited last', async () => {
    const name = `changed-${number}`;
    await publishMaster(100, { edition: 1 });
    await publishShop(name, 2);
    await look();
    await publishMaster(4 * kibibyte, { edition: 2 });
    await look();
    await publishShop(name, 2, [{ id: 'own' }], true);
    await look();
    expect(await idsOf(name)).toEqual(['own', 'r0', 'r1']);
    expect((await editions(name)).filter((edition: number) => edition === 1)).toHaveLength(2);
    await publishShop(name, 3);
    await look();
    expect(await logged(network.database, shop.identity)).toContain('inherits-too-much');
    expect(await idsOf(name)).toEqual(['own', 'r0', 'r1']);
  });

  it('a master that grows is followed by the dependents that it fits, and the others keep what they inherited last', async () => {
    const name = `outgrown-${number}`;
    await publishMaster(100, { edition: 1 });
    await publishShop(name, 5);
    await look();
    await publishMaster(2_000, { edition: 2 });
    await look();
    expect(await editions(name)).toEqual([1, 1, 2, 2, 2]);
    await publishMaster(4 * kibibyte, { edition: 3 });
    await look();
    expect(await editions(name)).toEqual([1, 1, 2, 2, 2]);
    await publishMaster(100, { edition: 4 });
    await look();
    expect(await editions(name)).toEqual([4, 4, 4, 4, 4]);
  });
});

describe('with the limits of the settings', () => {
  useNetwork({});

  it('a catalog that inherits more than is assembled at a time is applied as a whole, from a baseline and by a change', async () => {
    const name = `parts-${number}`;
    await publishMaster(1_000_000, { edition: 1 });
    await publishShop(name, 6, [{ id: 'own' }, { id: 'gone' }]);
    await look();
    expect(await idsOf(name)).toEqual(['gone', 'own', ...names(6)]);
    await publishShop(name, 9, [{ id: 'own' }]);
    await look();
    expect(await idsOf(name)).toEqual(['own', ...names(9)]);
    await publishShop(name, 7, [{ id: 'own' }, { id: 'new' }], true);
    await look();
    expect(await idsOf(name)).toEqual(['new', 'own', ...names(7)]);
    await publishMaster(1_000_000, { edition: 2 });
    await look();
    expect((await editions(name)).filter((edition: number) => edition === 2)).toHaveLength(7);
  });

  it('dependents of a master that has outgrown all of them are looked at together', async () => {
    const name = `passed-over-${number}`;
    await publishMaster(100);
    await publishShop(name, 6);
    await look();
    await publishMaster(4_000_000);
    await look();
    const { rows } = await network.database.query<{ transactions: number }>(
      `select count(distinct xmin::text) as transactions from discovery.crawl_extension
       where target_id = (select id from discovery.crawl_target where catalog_id = $1) and master_version = 2`,
      [name],
    );
    expect(rows).toEqual([{ transactions: 1 }]);
  });

  it('inherits-too-much: a few kilobytes that extend a template of 4 MB 500 times are not applied', async () => {
    const name = `bomb-${number}`;
    await publishMaster(4_000_000);
    await publishShop(name, 500);
    await look();
    expect(await logged(network.database, shop.identity)).toContain('inherits-too-much');
    expect(await copyOf(name)).toBeUndefined();
  });
});
