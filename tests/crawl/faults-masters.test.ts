import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { coffee, extending } from '../support/catalogs/masters.ts';
import { openScene, type Scene } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { only, replaced } from '../support/hosted/tampering.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import type { Body } from '../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import type { Provider } from '../support/network/provider.ts';

// "A dependencies.masters indexUrl hint is stale, unreachable or fails verification: fall back to ordinary registry resolution" (self-hosted spec:
// Errors). The MASTER catalog found through the registry has dark beans; anything found through a bad hint has green ones.

let network: TestNetwork;
let relay: TamperingProxy;
/**
 * The shop's product extends the bean; the facilitator has the bean and is a member of the network; the stranger has another bean and is a member of
 * another network.
 */
let shop: Scene;
let facilitator: Scene;
let stranger: Scene;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
  relay = await startTamperingProxy();
});
afterAll(async () => {
  await relay?.stop();
  await network?.close();
});
beforeEach(async () => {
  shop = await openScene(network);
  facilitator = await openScene(network);
  stranger = await openScene(network, { networks: ['elsewhere.org/masters'] });
  await publishMaster(facilitator.provider, 'dark');
  await publishMaster(stranger.provider, 'green');
  relay.passTo(stranger.provider.url);
});
afterEach(async () => {
  for (const scene of [shop, facilitator, stranger]) await scene.end();
});

const bean = () => `bean-${shop.catalogId}`;
const masterId = () => `master-${shop.catalogId}`;
const index = 'index/catalogs.index.json';

function publishMaster({ publish }: Provider, roast: string, id = masterId()) {
  const catalog = { ...head(id), resources: [coffee(bean(), { roast })] };
  const publishDirectives = [{ catalogId: id, catalogType: 'MASTER' as const }];
  return publish({ message: { catalogs: [catalog], publishDirectives } });
}

/** The shop's product extends the bean; its entry says where that MASTER catalog is. */
async function publishExtending(indexUrl: string): Promise<void> {
  const { provider, catalogId } = shop;
  const entry = (document: Body) => {
    document.dependencies = { masters: [{ catalogId: masterId(), version: 1, indexUrl }] };
  };
  provider.spoil(forge(provider, { entry }));
  const resourceDirectives = [extending('r1', bean())];
  const publishDirectives = [{ catalogId, catalogType: 'REGULAR' as const, resourceDirectives }];
  const catalogs = [{ ...head(catalogId), resources: [coffee('r1', { grind: 'fine' })] }];
  await provider.publish({ message: { catalogs, publishDirectives } });
  await shop.look();
}

function head(id: string) {
  return { id, descriptor: { name: id }, provider: { id: 'p', descriptor: { name: 'P' } } };
}

const served = async () => (await shop.served())?.map((resource: Body) => resource.resourceAttributes.roast);

describe('a hint for a MASTER catalog', () => {
  const rows: [what: string, indexUrl: () => string | Promise<string>][] = [
    ['is stale: there is nothing any more', () => `${facilitator.provider.url}/index/old.index.json`],
    ['cannot be reached', () => `http://127.0.0.1:1/${index}`],
    [
      'fails verification',
      () => {
        stranger.provider.spoil(only('index', replaced('MASTER', 'MASTER ')));
        return `${stranger.provider.url}/${index}`;
      },
    ],
    ['is an address that its node does not list', () => `${relay.url}/${index}`],
    [
      'leads to an index without that catalog',
      async () => {
        await stranger.provider.publish({ retire: [masterId()] });
        return `${stranger.provider.url}/${index}`;
      },
    ],
  ];

  it.each(rows)('master-hint-failed: that %s is told, and the registry is used', async (_what, indexUrl) => {
    const url = await indexUrl();
    await publishExtending(url);
    await shop.look();
    expect(await served()).toEqual(['dark']);
    await shop.expectTold('master-hint-failed', { catalogId: shop.catalogId, url });
  });

  it('that holds leads to a node that the registry does not lead to', async () => {
    await publishExtending(`${stranger.provider.url}/${index}`);
    await shop.look();
    expect(await served()).toEqual(['green']);
    expect((await shop.lines()).map(({ code }) => code)).not.toContain('master-hint-failed');
  });

  it('waiting-for-master: that failed where the registry leads nowhere either leaves the catalog waiting', async () => {
    await facilitator.provider.publish({ retire: [masterId()] });
    await publishExtending(`http://127.0.0.1:1/${index}`);
    expect(await served()).toBeUndefined();
    await shop.expectTold('waiting-for-master', { catalogId: shop.catalogId });
    await publishMaster(facilitator.provider, 'dark', `${masterId()}-again`);
    await shop.look();
    await shop.look();
    expect(await served()).toEqual(['dark']);
  });
});
