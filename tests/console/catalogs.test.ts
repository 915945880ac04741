import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { extending } from '../support/catalogs/masters.ts';
import { newId, offer, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import type { Actor } from '../support/network/actor.ts';
import { consoleOf } from '../support/network/console.ts';
import { startDiscovery } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { until } from '../support/time.ts';

// Catalogs, masters, participants, subscriptions and feeds at the console, on a catalog service that a discovery service follows.

let network: TestNetwork;
let provider: Actor;
let desk: ReturnType<typeof consoleOf>;
const owner = 'provider.signpost.test/subscribers.beckn.one';

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
  desk = consoleOf(network);
  provider = await network.actor('provider');
});
afterAll(() => network?.close());

const pathOf = (id: string) => `/api/catalogs/${encodeURIComponent(owner)}/${id}`;

describe('GET /api/catalogs/{owner}/{id}', () => {
  it('shows a published catalog with its document, and each version with who made it', async () => {
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('r1')], offers: [offer('o1')] });
    await publishCatalog(provider, { id, resources: [resource('r2')] });
    const shown = await desk.get(pathOf(id));
    expect(shown).toMatchObject({
      ...{ catalogId: id, name: `Catalog ${id}`, owner, source: 'service', type: 'REGULAR', version: 2 },
      ...{ resources: 2, offers: 1, networks: [defaultNetwork], state: 'active' },
    });
    expect(shown.document.resources.map((one: { id: string }) => one.id)).toEqual(['r1', 'r2']);
    expect(shown.versions).toMatchObject([
      { version: 2, by: owner, status: 'merged', messageId: expect.any(String) },
      { version: 1, by: owner, messageId: expect.any(String) },
    ]);
    expect(await desk.get('/api/catalogs/provider.signpost.test/'.concat(id))).toEqual(shown);
  });

  it('shows what its resources extend, and as which variants', async () => {
    const [master, dependent] = [newId(), newId()];
    const template = { catalogType: 'MASTER' as const };
    await publishCatalog(provider, { id: master, resources: [{ id: `${master}-1` }] }, template);
    const resourceDirectives = [
      extending('r1', `${master}-1`, { type: 'geo', id: 'north', label: 'The north' }),
      extending('r2', `${master}-1`),
    ];
    const resources = ['r1', 'r2', 'r3'].map((id) => ({ id }));
    await publishCatalog(provider, { id: dependent, resources }, { resourceDirectives });
    expect((await desk.get(pathOf(dependent))).resourceDirectives).toEqual(resourceDirectives);
    expect((await desk.get(pathOf(master))).resourceDirectives).toEqual([]);
  });

  it('leaves out the documents of a large catalog, and says so', async () => {
    const id = newId();
    const long = 'x'.repeat(1_000_000);
    await publishCatalog(provider, {
      id,
      resources: ['r1', 'r2', 'r3'].map((one) => ({ id: one, descriptor: { name: one, longDesc: long } })),
    });
    const shown = await desk.get(pathOf(id));
    expect(shown).toMatchObject({ documentTruncated: true, document: { id }, resources: 3 });
    expect(shown.document).not.toHaveProperty('resources');
  });

  it('knows no catalog of another owner', async () => {
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('r1')] });
    const { status, body } = await desk.ask(`/api/catalogs/somebody.example.org/${id}`);
    expect([status, body.error.code]).toEqual([404, 'NET_NOT_IMPLEMENTED']);
  });
});

describe('GET /api/catalogs/{owner}/{id}/difference', () => {
  it('tells which documents changed, as they are now, and that earlier ones are not kept', async () => {
    const id = newId();
    await publishCatalog(provider, { id, resources: [resource('r1'), resource('r2')] });
    await publishCatalog(provider, { id, resources: [resource('r2', 'New name'), resource('r3')] });
    const { changes, truncated, removed, note } = await desk.get(`${pathOf(id)}/difference?from=1`);
    expect(changes).toMatchObject([
      { path: '$.resources[?@.id=="r2"]', kind: 'changed', after: { descriptor: { name: 'New name' } } },
      { path: '$.resources[?@.id=="r3"]', kind: 'changed', version: 2 },
    ]);
    expect([truncated, removed]).toEqual([false, 0]);
    expect(note).toMatch(/not kept/);
  });

  it.each(['from=2', 'from=0&to=9', 'from=one', ''])(
    'refuses versions that there are not: %s',
    async (query) => {
      const id = newId();
      await publishCatalog(provider, { id, resources: [resource('r1')] });
      expect((await desk.ask(`${pathOf(id)}/difference?${query}`)).status).toBe(400);
    },
  );
});

describe('GET /api/masters', () => {
  it('tells which catalogs extend a master', async () => {
    const [master, dependent] = [newId(), newId()];
    await publishCatalog(
      provider,
      { id: master, resources: [resource('template-1')] },
      { catalogType: 'MASTER' },
    );
    const directives = { resourceDirectives: [extending('r1', 'template-1')] };
    await publishCatalog(provider, { id: dependent, resources: [{ id: 'r1' }] }, directives);
    const { items } = await desk.get('/api/masters');
    expect(items.filter((one: { catalogId: string }) => one.catalogId === master)).toEqual([
      {
        ...{ catalogId: master, owner, source: 'service', networks: [defaultNetwork] },
        dependents: [{ catalogId: dependent, owner, networks: [defaultNetwork] }],
        ...{ dependentCount: 1, orMore: false },
      },
    ]);
  });
});

describe('who takes part', () => {
  it('participants are listed with keys and networks, and found by a part of their name', async () => {
    const { items } = await desk.get('/api/participants?q=PROVIDER.signpost');
    expect(items).toEqual([
      expect.objectContaining({
        ...{ identity: owner, subscriberId: 'provider.signpost.test', registry: 'subscribers.beckn.one' },
        networks: [defaultNetwork],
        keys: [{ recordId: 'key-1', publicKey: expect.any(String), state: 'live' }],
      }),
    ]);
    const [small, large] = [await desk.all('/api/participants', 1), await desk.all('/api/participants')];
    expect(small.items).toEqual(large.items);
    expect(large.items).toHaveLength(5);
  });

  it('subscriptions are listed with the address of the subscriber', async () => {
    await provider.send(actions.subscribe, { subscription: { networkIds: [defaultNetwork] } });
    const { items } = await desk.get('/api/subscriptions');
    expect(items).toMatchObject([
      { subscriber: owner, url: provider.url, networkIds: [defaultNetwork], status: 'ACTIVE' },
    ]);
    expect((await desk.all('/api/subscriptions', 1)).items).toEqual(items);
  });
});

describe('a discovery service that follows the catalog service', () => {
  it('shows its feed and its copies, which came by push and by pull', async () => {
    const [pulled, pushed] = [newId(), newId()];
    await publishCatalog(provider, { id: pulled, resources: [resource('r1')] });
    const { url: catalogUrl } = network.config.identities.catalog;
    const discovery = await startDiscovery(network, [{ catalogUrl, networkIds: [defaultNetwork] }]);
    try {
      await discovery.settled();
      await publishCatalog(provider, {
        id: pushed,
        resources: [resource('r1'), resource('r2')],
        offers: [offer('o1')],
      });
      const copy = await until(async () => {
        const { items } = await desk.get('/api/catalogs?source=push');
        return items.find(({ catalogId }: { catalogId: string }) => catalogId === pushed);
      }, 'the push');
      expect(copy).toMatchObject({ owner, state: 'served', resources: 2, offers: 1 });
      expect(copy).not.toHaveProperty('version');
      const { items } = await desk.get('/api/catalogs?source=pull');
      expect(items).toContainEqual(expect.objectContaining({ catalogId: pulled, resources: 1 }));
      const { document } = await desk.get(`${pathOf(pushed)}?source=push`);
      expect(document).toMatchObject({
        id: pushed,
        resources: [{ id: 'r1' }, { id: 'r2' }],
        offers: [{ id: 'o1' }],
      });
      expect((await desk.get('/api/feeds')).items).toMatchObject([
        { catalogUrl, networkId: defaultNetwork, state: expect.stringMatching(/^(?:in step|pulling)$/) },
      ]);
      expect(await desk.get('/api/overview')).toMatchObject({ index: { version: expect.any(Number) } });
    } finally {
      await discovery.stop();
    }
  });
});
