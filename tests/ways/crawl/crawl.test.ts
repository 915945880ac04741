import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { crawl, logged } from '../../support/hosted/crawl.ts';
import type { Actor } from '../../support/network/actor.ts';
import { held } from '../../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type Provider, startProvider } from '../../support/network/provider.ts';

// From a provider's files to the answer of discover, without faults: the real publisher over real HTTP, the real registry, the real crawler.

let network: TestNetwork;
let provider: Provider;
let consumer: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
  provider = await startProvider(network, 'provider');
  consumer = await network.actor('shopper');
});

afterAll(async () => {
  await provider?.stop();
  await network?.close();
});

const resource = (id: string, name = `Tea ${id}`) => ({ id, descriptor: { name } });
const many = Array.from({ length: 20 }, (_, number) => resource(`r${number}`));

const catalog = (resources: object[]) => ({
  id: 'catalog-1',
  descriptor: { name: 'Catalog' },
  provider: { id: 'p', descriptor: { name: 'Provider' } },
  resources,
});

function publish(resources: object[], changes: object = {}) {
  return provider.publish({ message: { catalogs: [{ ...catalog(resources), ...changes } as never] } });
}

const ids = async () =>
  (await held(network.database, 'catalog-1'))?.resources.map(({ id }: { id: string }) => id);
const discover = (textSearch: string) =>
  consumer.send(actions.discover, { intent: { textSearch } }, { to: network.discoveryUrl });
const fetched = () =>
  provider.requests.splice(0).map(({ path, status }) => `${status} ${path.split('/')[1]}`);

describe('a self-hosted catalog', () => {
  it('is found by its node’s record in the network, verified and indexed', async () => {
    await publish(many);
    await crawl(network.database);
    expect(await logged(network.database, provider.identity)).toEqual([]);
    expect(await held(network.database, 'catalog-1')).toMatchObject({
      ...{ source: 'node', owner: provider.identity, type: 'REGULAR', served: true },
      head: { id: 'catalog-1', bppId: provider.id, bppUri: provider.url, isActive: true },
    });
    expect(await ids()).toHaveLength(20);
  });

  it('is discovered by consumers', async () => {
    const { status, messageId } = await discover('tea r7');
    expect(status).toBe(200);
    const { body } = await consumer.waitFor('on_discover', messageId);
    expect(body.message.catalogs[0]).toMatchObject({ id: 'catalog-1', bppId: provider.id });
  });

  it('costs conditional requests alone when nothing has changed', async () => {
    provider.requests.length = 0;
    await crawl(network.database);
    expect(fetched().sort()).toEqual(['304 .well-known', '304 index']);
  });

  it('costs one look at the bytes where the host knows no conditional requests, unless they are stale', async () => {
    const { database } = network;
    const readAt = async () => {
      const { rows } = await database.query<{ read_at: Date }>('select read_at from discovery.crawl_index');
      return rows[0]?.read_at;
    };
    provider.spoil(() => ({ headers: { 'content-type': 'application/json' } }));
    const before = await readAt();
    provider.requests.length = 0;
    await crawl(database);
    expect(fetched()).toContain('200 index');
    expect(await readAt()).toEqual(before);
    await database.query("update discovery.crawl_index set next_update = now() - interval '1 s'");
    await crawl(database);
    expect(await readAt()).not.toEqual(before);
    provider.spoil(undefined);
    await crawl(database);
  });

  it('is followed by its change files', async () => {
    provider.requests.length = 0;
    await publish([...many.slice(1), resource('r99')]);
    await crawl(network.database);
    expect(await ids()).toEqual([...many.slice(1).map(({ id }) => id), 'r99']);
    expect(provider.requests.filter(({ path }) => path.includes('/changes/'))).toHaveLength(1);
    expect(fetched()).toHaveLength(3);
  });

  it('stays indexed while it is paused, but is not found', async () => {
    await provider.publish({ pause: ['catalog-1'] });
    await crawl(network.database);
    expect(await ids()).toHaveLength(20);
    expect((await discover('tea')).status).toBe(202);
    await provider.publish({ resume: ['catalog-1'] });
    await crawl(network.database);
    expect((await discover('tea')).status).toBe(200);
  });

  it('is not served once it is retired', async () => {
    await provider.publish({ retire: ['catalog-1'] });
    await crawl(network.database);
    expect((await held(network.database, 'catalog-1'))?.served).toBe(false);
    expect((await discover('tea')).status).toBe(202);
  });
});
