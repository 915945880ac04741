import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { listPushes } from '../../../src/storage/catalog/push-list.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import type { Actor, Body, Received } from '../../support/network/actor.ts';
import { consoleOf } from '../../support/network/console.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { publish, submit } from '../../support/network/publish.ts';
import { subscribe } from '../../support/network/subscriptions.ts';
import { refuseWhatIsClosed } from '../../support/peers/closed-consumer.ts';
import { hopeless, isAccepted, joinClosed, loose, sentTo } from '../../support/peers/closed-receivers.ts';
import { until } from '../../support/time.ts';

// Messages of the catalog service to peers with closed schemas (protocol decision: strict form): on_publish, on_pull, push, downloads and search.
// Only an on_discover may omit a catalog.

let network: TestNetwork;
let provider: Actor;
let desk: ReturnType<typeof consoleOf>;
const networks = Array.from({ length: 9 }, (_, index) => `strict-${index}.example/net`);

beforeAll(async () => {
  network = await startNetwork({
    settings: {
      ...{ ROLES: 'registry,catalog,console', PULL_INLINE_LIMIT: '20kb' },
    },
  });
  desk = consoleOf(network);
  provider = await network.actor('provider');
});
afterAll(() => network?.close());

/** A network that is not used elsewhere in this file. */
const newNetwork = () => networks.pop() ?? '';

/** Publishes a catalog to a network. */
async function give(visibleTo: string, id: string, content: object): Promise<void> {
  const result = await publish(provider, catalog(id, content), { visibleTo: [visibleTo] });
  expect(result).toMatchObject({ status: 'ACCEPTED' });
}

const strictLoose = {
  descriptor: { name: 'Loose' },
  validity: { startDate: '2026-01-01T00:00:00Z', endDate: '2099-12-31T23:59:59.999Z' },
};

describe('on_publish', () => {
  it('with warnings reaches a provider whose schemas are closed without them, and the next one at once', async () => {
    const closed = await joinClosed(network, 'closed-provider');
    const { sends, delivery } = await sentTo(network, closed, await submit(closed, catalog('own', loose)));
    expect(sends.map(isAccepted)).toEqual([false, true]);
    const [full, strict] = sends.map(({ body }) => body.message.results[0]);
    expect(full.warnings).toHaveLength(1);
    const { warnings, ...rest } = full;
    expect(strict).toEqual(rest);
    expect(delivery).toMatchObject({ state: 'delivered', form: 'strict' });
    const again = await sentTo(network, closed, await submit(closed, catalog('own', loose)));
    expect(again.sends.map(isAccepted)).toEqual([true]);
    const shown = await desk.get(
      `/api/deliveries?receiver=${encodeURIComponent(new URL(closed.url).origin)}`,
    );
    expect(shown.items.map(({ form, detail }: Body) => [form, detail])).toEqual([
      ['strict', 'delivered'],
      ['strict', 'delivered'],
    ]);
  });
});

describe('on_pull', () => {
  /** Accepts every push, so that the service learns nothing from it. */
  async function join(name: string): Promise<Actor> {
    const actor = await network.actor(name);
    const refuse = refuseWhatIsClosed();
    actor.behave((received) => (received.action === 'catalog/push' ? undefined : refuse(received)));
    return actor;
  }

  async function pull(as: Actor, networkId: string) {
    const subscriptionId = await subscribe(as, { networkIds: [networkId] });
    const { status, messageId } = await as.send(actions.pull, { subscriptionId });
    expect(status).toBe(200);
    const sent = await sentTo(network, as, messageId);
    return { ...sent, message: sent.sends.at(-1)?.body.message };
  }

  it('arrives whole, in strict form; a later one at once', async () => {
    const networkId = newNetwork();
    await give(networkId, 'pulled-1', {});
    await give(networkId, 'pulled-2', loose);
    const closed = await join('puller');
    const { sends, message, delivery } = await pull(closed, networkId);
    expect(message.catalogs.map(({ id }: Body) => id)).toEqual(['pulled-1', 'pulled-2']);
    expect(message.catalogs[1]).toMatchObject(strictLoose);
    expect(sends.map(isAccepted)).toEqual([false, true]);
    expect(delivery).toMatchObject({ state: 'delivered', form: 'strict' });
    expect((await pull(closed, networkId)).sends.map(isAccepted)).toEqual([true]);
  });

  it('that is refused in strict form too is parked: it never leaves a catalog out', async () => {
    const networkId = newNetwork();
    await give(networkId, 'unpulled-1', {});
    await give(networkId, 'unpulled-2', { ...hopeless, validity: loose.validity });
    const closed = await join('refuser');
    const { sends, delivery } = await pull(closed, networkId);
    expect(sends.map(isAccepted)).toEqual([false, false]);
    for (const { body } of sends) expect(body.message.catalogs).toHaveLength(2);
    expect(delivery).toMatchObject({ state: 'refused', form: 'strict', lastStatus: 400 });
  });

  it('names a download that is strict for who is known to need it, and whole for others', async () => {
    const networkId = newNetwork();
    const resources = Array.from({ length: 1_500 }, (_, index) => ({
      ...{ id: `r-${index}`, descriptor: { name: `Resource ${index}`, short_desc: 'x'.repeat(200) } },
    }));
    const offers = [{ id: 'o', validity: loose.validity }];
    await give(networkId, 'downloaded', { resources, offers });
    const closed = await joinClosed(network, 'downloader');
    await sentTo(network, closed, await submit(closed, catalog('to be known', loose)));
    const download = async (as: Actor): Promise<Body> => {
      const { message } = await pull(as, networkId);
      const response = await fetch(message.downloadManifest.url);
      const text = gunzipSync(Buffer.from(await response.arrayBuffer())).toString('utf8');
      return JSON.parse(text).catalogs[0];
    };
    const [strict, full] = [await download(closed), await download(await network.actor('tolerant-puller'))];
    expect(full.resources).toEqual(expect.arrayContaining(resources.slice(0, 3)));
    expect(full.offers[0].validity).toEqual(loose.validity);
    expect(strict.resources).toHaveLength(1_500);
    expect(strict.resources.every(({ descriptor }: Body) => Object.keys(descriptor).join() === 'name')).toBe(
      true,
    );
    expect(strict.offers[0].validity).toEqual(strictLoose.validity);
    expect(strict.resources.map(({ id }: Body) => id)).toEqual(full.resources.map(({ id }: Body) => id));
  });
});

describe('push', () => {
  const pushesOf = (actor: Actor, id: string): Received[] =>
    actor.received.filter(
      ({ action, body }) => action === 'catalog/push' && body.message.catalogs[0].id === id,
    );

  /** The pushes of a catalog once it is settled, and the operator's view of it. */
  async function pushed(actor: Actor, id: string, version = 1) {
    const delivery = await until(async () => {
      const found = await listPushes(network.database, { limit: 1_000 });
      const push = found.find(
        ({ subscriber, catalogId }) => subscriber.startsWith(actor.id) && catalogId === id,
      );
      const isSettled = push?.acknowledgedVersion === version || push?.state === 'parked';
      return isSettled && push?.dueAt === null && push;
    }, `the push of ${id} to ${actor.id}`);
    return { pushes: pushesOf(actor, id), delivery };
  }

  it('is sent again at once in strict form under the same messageId, and the next one in strict form first', async () => {
    const networkId = newNetwork();
    const closed = await joinClosed(network, 'subscriber');
    await subscribe(closed, { networkIds: [networkId] });
    await give(networkId, 'pushed', loose);
    const { pushes, delivery } = await pushed(closed, 'pushed');
    expect(pushes.map(isAccepted)).toEqual([false, true]);
    const [full, strict] = pushes as [Received, Received];
    expect(strict.body.context).toEqual(full.body.context);
    expect(strict.body.message.publishDirectives).toEqual(full.body.message.publishDirectives);
    expect(strict.body.message.catalogs[0]).toMatchObject(strictLoose);
    expect(delivery).toMatchObject({ state: 'acknowledged', form: 'strict', acknowledgedVersion: 1 });
    await give(networkId, 'pushed', { ...loose, isActive: true, resources: [plain('new')] });
    const next = await pushed(closed, 'pushed', 2);
    expect(next.pushes.map(isAccepted)).toEqual([false, true, true]);
    expect(next.pushes[2]?.body.message.publishDirectives[0].updateMode).toBe('MERGE');
    const { items } = await desk.get(`/api/deliveries?receiver=${closed.id}/subscribers.beckn.one`);
    expect(items).toMatchObject([{ action: 'catalog/push', about: 'pushed', form: 'strict' }]);
  });

  it('that is refused in strict form too is parked', async () => {
    const networkId = newNetwork();
    const closed = await joinClosed(network, 'parker');
    await subscribe(closed, { networkIds: [networkId] });
    await give(networkId, 'parked', { ...hopeless, validity: loose.validity });
    const { pushes, delivery } = await pushed(closed, 'parked');
    expect(pushes.map(isAccepted)).toEqual([false, false]);
    expect(delivery).toMatchObject({ state: 'parked', form: 'strict', lastStatus: 400 });
  });

  it('of a large catalog is strict in every part', async () => {
    const networkId = newNetwork();
    const closed = await joinClosed(network, 'large');
    await subscribe(closed, { networkIds: [networkId] });
    const resources = Array.from({ length: 300 }, (_, index) => ({
      ...{ id: `r-${index}`, longText: 'x'.repeat(5_000), descriptor: { name: 'r', short_desc: 's' } },
    }));
    await give(networkId, 'large', { resources });
    const { pushes, delivery } = await pushed(closed, 'large');
    expect(pushes[0]?.raw.length).toBeGreaterThan(1_500_000);
    expect(pushes.map(isAccepted)).toEqual([false, true]);
    expect(pushes[1]?.body.message.catalogs[0].resources).toHaveLength(300);
    expect(delivery).toMatchObject({ state: 'acknowledged', form: 'strict' });
  });

  it('has everything for a tolerant subscriber', async () => {
    const networkId = newNetwork();
    const tolerant = await network.actor('tolerant-subscriber');
    await subscribe(tolerant, { networkIds: [networkId] });
    await give(networkId, 'whole', loose);
    const { pushes, delivery } = await pushed(tolerant, 'whole');
    expect(pushes).toHaveLength(1);
    expect(pushes[0]?.body.message.catalogs[0]).toMatchObject(loose);
    expect(delivery).toMatchObject({ state: 'acknowledged', form: 'full' });
  });
});

it('The answer to a search is strict for who is known to need it, and whole for others', async () => {
  const networkId = newNetwork();
  await give(networkId, 'searched', { ...loose, resources: [{ id: 'r', descriptor: { short_desc: 's' } }] });
  const search = async (as: Actor): Promise<Body> => {
    const filters = { type: 'REGULAR', networkIds: [networkId] };
    const { status, body, answerSigned } = await as.send(actions.search, { filters });
    expect({ status, answerSigned }).toEqual({ status: 200, answerSigned: true });
    expect(body.message.pagination).toEqual({ total: 1, limit: 20, offset: 0 });
    return body.message.catalogs[0];
  };
  const closed = await joinClosed(network, 'searcher');
  expect(await search(closed)).toMatchObject(loose);
  await sentTo(network, closed, await submit(closed, catalog('own-searcher', loose)));
  const strict = await search(closed);
  expect(strict).toMatchObject({ ...strictLoose, resources: [{ id: 'r', descriptor: {} }] });
  expect(strict.descriptor).not.toHaveProperty('short_desc');
  expect(await search(await network.actor('tolerant-searcher'))).toMatchObject(loose);
});
