import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signDocument } from '../../src/protocol/signed-document.ts';
import type { CatalogIndex, MasterDependency } from '../../src/protocol/signed-files.ts';
import { coffee, extending } from '../support/catalogs/masters.ts';
import { crawl, logged } from '../support/hosted/crawl.ts';
import { held, startDiscovery, type TestDiscovery } from '../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type Provider, startProvider } from '../support/network/provider.ts';

// A discovery service that crawls only some shops must find the MASTER catalogs that they extend: by the hint in the entry, and by the registry.

let network: TestNetwork;
let discovery: TestDiscovery | undefined;
const started: Provider[] = [];

beforeEach(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry' } });
});
afterEach(async () => {
  await discovery?.stop();
  await Promise.all(started.splice(0).map((provider) => provider.stop()));
  await network.close();
});

async function start(name: string): Promise<Provider> {
  const provider = await startProvider(network, name);
  started.push(provider);
  return provider;
}

const base = { provider: { id: 'p', descriptor: { name: 'P' } } };
const indexPath = '/index/catalogs.index.json';

/** A facilitator with a MASTER catalog, and another catalog that is not requested here. */
async function startFacilitator(name: string): Promise<Provider> {
  const facilitator = await start(name);
  const catalogs = [
    {
      ...base,
      id: `${name}-master`,
      descriptor: { name },
      resources: [coffee(`${name}-bean`, { roast: 'dark' })],
    },
    { ...base, id: `${name}-regular`, descriptor: { name }, resources: [coffee(`${name}-cup`)] },
  ];
  const publishDirectives = [{ catalogId: `${name}-master`, catalogType: 'MASTER' as const }];
  await facilitator.publish({ message: { catalogs, publishDirectives } });
  return facilitator;
}

/** A shop whose catalog extends the facilitator's bean with this declaration, and the discovery service that crawls it. */
async function startShop(
  name: string,
  facilitator: string,
  masters: MasterDependency[] = [],
  settings: Record<string, string> = {},
): Promise<Provider> {
  const shop = await start(name);
  const catalog = { ...base, id: name, descriptor: { name }, resources: [coffee('r1', { grind: 'fine' })] };
  const resourceDirectives = [extending('r1', `${facilitator}-bean`)];
  const publishDirectives = [{ catalogId: name, catalogType: 'REGULAR' as const, resourceDirectives }];
  await shop.publish({ message: { catalogs: [catalog], publishDirectives } });
  shop.spoil((path, { body }) =>
    path === indexPath && body.length > 0 ? { body: declare(shop, body, masters) } : undefined,
  );
  discovery = await startDiscovery(network, [], {
    DISCOVERY_NODES: JSON.stringify([shop.id]),
    ...settings,
  });
  return shop;
}

/** The index with a declaration in its entries, signed again. */
function declare({ tree }: Provider, body: Buffer, masters: MasterDependency[]): Buffer {
  const index: CatalogIndex = JSON.parse(body.toString());
  const catalogs = index.catalogs.map((entry) =>
    signDocument({ ...entry, dependencies: { masters } }, tree.key, 'spec'),
  );
  return Buffer.from(JSON.stringify(signDocument({ ...index, catalogs }, tree.key, 'spec')));
}

const look = () => crawl(network.database);
const served = async (id: string) => (await held(network.database, id))?.resources[0]?.resourceAttributes;

describe('the hint of an entry for its MASTER catalog', () => {
  it('leads to the index of a node that nobody named, of which the MASTER catalogs alone are read', async () => {
    const facilitator = await startFacilitator('guild');
    const indexUrl = facilitator.url + indexPath;
    const shop = await startShop('shop', 'guild', [{ catalogId: 'guild-master', version: 1, indexUrl }]);
    await look();
    expect(await served('shop')).toMatchObject({ roast: 'dark', grind: 'fine' });
    expect(await held(network.database, 'guild-master')).toMatchObject({ type: 'MASTER' });
    expect(await held(network.database, 'guild-regular')).toBeUndefined();
    const codes = await logged(network.database, shop.identity);
    expect(codes.filter((code) => code !== 'waiting-for-master')).toEqual([]);
    const { rowCount } = await network.database.query(
      "select from discovery.crawl_source where kind = 'masters'",
    );
    expect(rowCount).toBe(0);
  });

  it('master-hint-failed: counts for nothing when the record of its node does not list that address; the registry finds the master', async () => {
    const facilitator = await startFacilitator('guild');
    const indexUrl = `${facilitator.url}${indexPath}?copy`;
    const shop = await startShop('shop', 'guild', [{ catalogId: 'guild-master', version: 1, indexUrl }]);
    await look();
    const codes = await logged(network.database, shop.identity);
    expect(codes).toContain('master-hint-failed');
    await look();
    expect(await served('shop')).toMatchObject({ roast: 'dark', grind: 'fine' });
  });

  it('master-hint-failed: counts for nothing when nobody is there, or no such catalog', async () => {
    await startFacilitator('guild');
    const other = await startFacilitator('other-guild');
    const shop = await startShop('shop', 'guild', [
      { catalogId: 'guild-master', indexUrl: 'http://127.0.0.1:9/index.json' },
      { catalogId: 'nobody-has-it', indexUrl: other.url + indexPath },
    ]);
    await look();
    await look();
    const { rows } = await network.database.query<{ url: string }>(
      "select url from discovery.crawl_log where node = $1 and code = 'master-hint-failed' order by url",
      [shop.identity],
    );
    expect(new Set(rows.map(({ url }) => url))).toEqual(
      new Set(['http://127.0.0.1:9/index.json', other.url + indexPath]),
    );
    expect(await served('shop')).toMatchObject({ roast: 'dark', grind: 'fine' });
  });

  it('master-hint-failed: counts for nothing when MASTER_PUBLISHERS does not list whose catalog it is', async () => {
    const guild = await startFacilitator('guild');
    const masters = [{ catalogId: 'guild-master', indexUrl: guild.url + indexPath }];
    const shop = await startShop('shop', 'guild', masters, { MASTER_PUBLISHERS: 'somebody.else' });
    await look();
    await look();
    expect(await logged(network.database, shop.identity)).toContain('master-hint-failed');
    expect(await logged(network.database, guild.identity)).toContain('master-not-allowed');
    expect(await served('shop')).toBeUndefined();
  });
});

describe('a MASTER catalog that is not declared', () => {
  it('is looked for in the networks of the node that extends it', async () => {
    await startFacilitator('guild');
    await startShop('shop', 'guild');
    await look();
    await look();
    expect(await served('shop')).toMatchObject({ roast: 'dark', grind: 'fine' });
    expect(await held(network.database, 'guild-regular')).toBeUndefined();
  });

  it('makes known a node that is crawled whole once the settings name it', async () => {
    const guild = await startFacilitator('guild');
    const shop = await startShop('shop', 'guild');
    await look();
    await look();
    await discovery?.stop();
    discovery = await startDiscovery(network, [], { DISCOVERY_NODES: JSON.stringify([shop.id, guild.id]) });
    await look();
    expect(await held(network.database, 'guild-regular')).toMatchObject({ served: true });
    await discovery.stop();
    discovery = await startDiscovery(network, [], { DISCOVERY_NODES: JSON.stringify([shop.id]) });
    await look();
    expect(await held(network.database, 'guild-regular')).toMatchObject({ served: false });
    expect(await held(network.database, 'guild-master')).toMatchObject({ served: true });
    await discovery.stop();
    discovery = await startDiscovery(network, [], { DISCOVERY_NODES: JSON.stringify([shop.id, guild.id]) });
    await look();
    expect(await held(network.database, 'guild-regular')).toMatchObject({ served: true });
  });
});
