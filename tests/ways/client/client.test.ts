import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createInbox,
  type Found,
  Signpost,
  SignpostError,
  verifyTree,
} from '../../../packages/client/src/index.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { catalog, charger, offer, plain } from '../../support/catalogs/sample-catalogs.ts';
import { freePort } from '../../support/free-port.ts';
import { catalogOf, teas } from '../../support/hosted/crawl-scene.ts';
import { forge } from '../../support/hosted/forged-node.ts';
import { trigger } from '../../support/hosted/publisher.ts';
import { startClient } from '../../support/network/client.ts';
import { startDiscovery, type TestDiscovery } from '../../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { startProvider } from '../../support/network/provider.ts';
import { until } from '../../support/time.ts';

// The client package, as the build bundles it, against real services. Longer than our other tests: a case for each method and each of its outcomes.

describe('the client', () => {
  let network: TestNetwork;
  let discovery: TestDiscovery;
  let provider: Signpost;
  let consumer: Signpost;

  beforeAll(async () => {
    network = await startNetwork({
      settings: { ROLES: 'registry,catalog,publisher', PULL_INLINE_LIMIT: '100kb' },
    });
    discovery = await startDiscovery(network, [
      { catalogUrl: network.catalogUrl, networkIds: [defaultNetwork] },
    ]);
    provider = await startClient(network, 'client-provider');
    consumer = await startClient(network, 'client-consumer', { discoveryService: discovery.url });
  });
  afterAll(async () => {
    await provider?.close();
    await consumer?.close();
    await discovery?.stop();
    await network?.close();
  });

  const found = async (...question: Parameters<Signpost['discover']>) => {
    const all: Found[] = [];
    for await (const one of consumer.discover(...question)) all.push(one);
    return all;
  };
  /** Waits until the push has arrived. */
  const untilFound = (text: string, count = 1) =>
    until(async () => {
      const all = await found(text);
      return all.length >= count && all;
    }, `${count} times "${text}"`);
  const errorOf = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SignpostError);
    return error as SignpostError;
  };

  it('publishes, and resolves with the results of on_publish', async () => {
    const good = catalog('client-good', {
      resources: [charger('client-charger'), plain('client-lamp', 'Zinc lamp')],
    });
    const bad = catalog('client-bad', { resources: [charger('client-wooden', { connectorType: 'Wooden' })] });
    const results = await provider.publish([good, bad], {
      directives: [{ catalogId: good.id, catalogType: 'REGULAR', updateMode: 'FULL' }],
    });
    expect(results).toEqual([
      expect.objectContaining({
        catalogId: 'client-good',
        status: 'ACCEPTED',
        stats: expect.objectContaining({ itemCount: 2 }),
      }),
      expect.objectContaining({ catalogId: 'client-bad', status: 'REJECTED' }),
    ]);
    expect(results[1]?.errors?.[0]).toMatchObject({
      code: 'SCH_SCHEMA_VALIDATION_FAILED',
      details: { path: expect.stringContaining('connectorType') },
    });
  });

  it('discovers what was published, page by page, with the offers that cover each resource', async () => {
    const resources = Array.from({ length: 7 }, (_, index) =>
      plain(`client-kettle-${index}`, 'Copper kettle'),
    );
    const offers = [offer('client-cheap', { resourceIds: ['client-kettle-3'] })];
    await provider.publish(catalog('client-kettles', { resources, offers }));
    await untilFound('copper kettle', 7);
    const paged = await found({ textSearch: 'copper kettle' }, { pageSize: 3, networkId: defaultNetwork });
    expect(paged.map(({ resource }) => resource.id).sort()).toEqual(resources.map(({ id }) => id));
    const third = paged.find(({ resource }) => resource.id === 'client-kettle-3');
    expect(third).toMatchObject({ offers: [{ id: 'client-cheap' }], catalog: { id: 'client-kettles' } });
    expect(paged.filter((one) => one !== third).flatMap((one) => one.offers)).toEqual([]);
  });

  it('iterates over nothing where nothing is found, and tells why', async () => {
    const reasons: string[] = [];
    expect(await found('quagga', { onNothing: (reason) => reasons.push(reason) })).toEqual([]);
    expect(reasons).toEqual([expect.stringContaining('Nothing matches')]);
  });

  it('subscribes, lists, pulls inline and by download, and unsubscribes', async () => {
    const large: Catalog = catalog('client-large', {
      resources: Array.from({ length: 300 }, (_, index) =>
        plain(`client-large-${index}`, `Lamp ${index} ${'x'.repeat(400)}`),
      ),
    });
    await provider.publish(large);
    const { subscriptionId, status } = await consumer.subscribe({ networkIds: [defaultNetwork] });
    expect(status).toBe('ACTIVE');
    expect(await consumer.subscriptions({ subscriptionId })).toHaveLength(1);
    const pulled: string[] = [];
    for await (const { id, resources } of consumer.pull(subscriptionId, { pageSize: 2 }))
      pulled.push(`${id} ${resources?.length}`);
    expect(pulled).toEqual(expect.arrayContaining(['client-kettles 7', 'client-large 300']));
    expect(await consumer.unsubscribe(subscriptionId)).toMatchObject({ status: 'INACTIVE' });
  });

  it('tells of a download that is too large, breaks off or takes too long by a SignpostError', async () => {
    let body: () => ReadableStream | undefined = () => undefined;
    const puller = await startClient(network, 'client-puller', {
      async fetch(address, init) {
        const answer = body();
        if (!String(address).includes('/download') || !answer) return fetch(address, init);
        return new Response(answer);
      },
    });
    const { subscriptionId } = await puller.subscribe({ networkIds: [defaultNetwork] });
    const pull = async (options: Parameters<Signpost['pull']>[1]) => {
      for await (const _ of puller.pull(subscriptionId, options));
    };
    const code = 'NET_CATALOG_SOURCE_UNAVAILABLE';
    const tooLarge = await errorOf(pull({ maxDownloadBytes: 100 }));
    expect(tooLarge).toMatchObject({ code, message: expect.stringContaining('more than 100 bytes') });
    expect(await errorOf(pull({ downloadTimeoutMs: 0 }))).toMatchObject({
      ...{ code, cause: { name: 'TimeoutError' } },
    });
    body = () => new ReadableStream({ pull: (stream) => stream.error(new Error('the line was cut')) });
    expect(await errorOf(pull({}))).toMatchObject({
      ...{ code, message: expect.stringContaining('the line was cut') },
    });
    await puller.close();
  });

  it('searches the catalogs of a catalog service, page by page', async () => {
    const ids: string[] = [];
    for await (const { id } of consumer.search({ type: 'REGULAR' }, { pageSize: 1 })) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['client-good', 'client-kettles']));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('finds a service by its subscriberId in the registry', async () => {
    const to = network.config.identities.catalog.id;
    expect(await provider.publish(catalog('client-by-name'), { to })).toMatchObject([{ status: 'ACCEPTED' }]);
  });

  it('takes pushes to its registered address, verified, into an inbox', async () => {
    const inbox = createInbox();
    const callbacks = `http://127.0.0.1:${await freePort()}`;
    const receiver = await startClient(network, 'client-receiver', { callbacks, onMessage: inbox.take });
    await receiver.subscribe({ networkIds: [defaultNetwork] });
    await provider.publish(catalog('client-pushed'));
    const pushed = async (): Promise<string[]> => {
      const { message, signer } = await inbox.next('catalog/push');
      expect(signer).toBe(`${network.config.identities.catalog.id}/${network.config.REGISTRY_NAME}`);
      const ids = message.catalogs.map(({ id }) => id);
      return ids.includes('client-pushed') ? ids : pushed();
    };
    expect(await pushed()).toEqual(['client-pushed']);
    await receiver.close();
  });

  it('throws what the service would refuse for its form before it is sent, with code, path and messageId', async () => {
    const nameless = { ...catalog('client-nameless'), provider: { id: 'somebody' } } as unknown as Catalog;
    const error = await errorOf(
      provider.publish(nameless, { messageId: 'of-mine', to: 'http://127.0.0.1:9' }),
    );
    expect(error).toMatchObject({
      code: 'SCH_REQUIRED_FIELD_MISSING',
      path: '$.message.catalogs[0].provider.descriptor',
      messageId: 'of-mine',
    });
  });

  it('throws what the service refuses, with its code, path, status and the messageId', async () => {
    const filters = { type: 'jsonpath', expression: '$.catalogs[' } as const;
    const error = await errorOf(found({ filters }));
    expect(error).toMatchObject({ code: 'SCH_INVALID_JSONPATH', status: 400, messageId: expect.any(String) });
    const unknown = await errorOf(consumer.unsubscribe('3f1c2c6e-6f0e-4a3e-9d67-0d5f6f3c8a11'));
    expect(unknown).toMatchObject({ code: 'CTX_INVALID_FIELD', status: 404 });
  });

  it('is refused where the registry does not know its key', async () => {
    const stranger = await startClient(network, 'client-stranger', { keyId: 'key-9' });
    expect(await errorOf(stranger.publish(catalog('client-strange')))).toMatchObject({
      code: 'AUT_KEY_NOT_FOUND',
      status: 401,
    });
    await stranger.close();
  });

  it('is told where a messageId of its own stands for another request already', async () => {
    const messageId = 'client-again';
    await provider.publish(catalog('client-again'), { messageId });
    const error = await errorOf(provider.publish(catalog('client-again-2'), { messageId }));
    expect(error).toMatchObject({ code: 'CTX_MESSAGE_ID_DUPLICATE', messageId });
  });

  it('waits for a callback no longer than it is told, or until a signal', async () => {
    const deaf = await startClient(network, 'client-deaf');
    await deaf.close();
    expect(await errorOf(deaf.publish(catalog('client-late'), { callbackTimeoutMs: 50 }))).toMatchObject({
      code: 'NET_TIMEOUT',
    });
    const stopped = deaf.publish(catalog('client-stopped'), { signal: AbortSignal.timeout(50) });
    await expect(stopped).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('says that a callback came and why it was refused, where the registry cannot be queried', async () => {
    const lost = await startClient(network, 'client-lost', { registry: 'http://127.0.0.1:1/dedi' });
    const error = await errorOf(lost.publish(catalog('client-unverified'), { callbackTimeoutMs: 3_000 }));
    await lost.close();
    expect(error.message).toMatch(
      /^No catalog\/on_publish was accepted within 3000 ms\. The last one was refused: .*registry/i,
    );
  });

  it('is not made without a key, and says what is missing', () => {
    const options = { id: 'x.example.org', keyId: 'key-1', registry: 'http://127.0.0.1:1/dedi' };
    expect(() => new Signpost({ ...options, privateKey: undefined as never })).toThrow(
      'privateKey is not an Ed25519 key: give its seed',
    );
  });

  it('verifies a published tree from its host, and names the first broken link of one that was changed', async () => {
    const { config } = network;
    const { id, url } = config.identities.publisher;
    const published = await trigger(config, { message: { catalogs: [catalog('client-hosted')] } });
    expect(published.body).toMatchObject({ status: 'COMPLETED' });
    const { registryUrl: registry, REGISTRY_NAME } = config;
    const allowPrivateAddresses = true;
    for (const place of [url, `${config.publisherDir}/public`])
      expect(await verifyTree(place, { registry, allowPrivateAddresses })).toEqual({
        ...{ node: `${id}/${REGISTRY_NAME}`, isValid: true, documents: 5, faults: [] },
        catalogs: [
          { catalogId: 'client-hosted', catalogType: 'REGULAR', version: 1, resources: 1, offers: 0 },
        ],
      });
    const forged: typeof fetch = async (address, init) => {
      const answer = await fetch(address, init);
      if (!String(address).includes('/catalogs/')) return answer;
      return new Response((await answer.text()).replace('Resource', 'Forgery'));
    };
    expect(await verifyTree(url, { registry, allowPrivateAddresses, fetch: forged })).toMatchObject({
      isValid: false,
      faults: [{ document: 'baseline', code: 'digest-mismatch' }],
    });
    expect(
      await verifyTree(url, { registry, allowPrivateAddresses, node: 'another.signpost.test' }),
    ).toMatchObject({
      isValid: false,
      faults: [{ document: 'manifest', code: 'key-unknown' }],
    });
  });

  it('refuses a published tree whose changes leave a catalog empty, or do not lead to the announced version', async () => {
    const host = await startProvider(network, 'client-emptied');
    await host.publish({ message: { catalogs: [catalogOf('teas', 0, 10)] } });
    await host.publish({ message: { catalogs: [catalogOf('teas', 0, 11)] } });
    const { registryUrl: registry } = network.config;
    const allowPrivateAddresses = true;
    expect(await verifyTree(host.url, { registry, allowPrivateAddresses })).toMatchObject({
      isValid: true,
      documents: 6,
    });
    const removals = teas(0, 10).map(({ id }) => id);
    host.spoil(
      forge(host, {
        change(file) {
          file.resources = { upserts: [], removals };
        },
      }),
    );
    expect(await verifyTree(host.url, { registry, allowPrivateAddresses })).toMatchObject({
      ...{ isValid: false, catalogs: [] },
      faults: [{ document: 'entry', catalogId: 'teas', code: 'empty-catalog' }],
    });
    host.spoil(
      forge(host, {
        entry({ changes }) {
          Object.assign(changes[0], { fromVersion: 2, toVersion: 3, version: 3 });
        },
        change(file) {
          Object.assign(file, { fromVersion: 2, toVersion: 3, version: 3 });
        },
      }),
    );
    expect(await verifyTree(host.url, { registry, allowPrivateAddresses })).toMatchObject({
      ...{ isValid: false, catalogs: [] },
      faults: [{ document: 'entry', catalogId: 'teas', code: 'gap' }],
    });
    await host.stop();
  });
});
