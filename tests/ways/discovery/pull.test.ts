import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { feedTable } from '../../../src/storage/feeds/feeds.ts';
import { catalog, plain } from '../../support/catalogs/sample-catalogs.ts';
import { newId } from '../../support/catalogs/small-catalogs.ts';
import type { Received } from '../../support/network/actor.ts';
import { held, names, type TestDiscovery } from '../../support/network/discovery.ts';
import type { TestNetwork } from '../../support/network/network.ts';
import { type PlayedService, playService } from '../../support/network/played-service.ts';
import { completed, type Pulling, retail, startPulling } from '../../support/network/pulling.ts';
import { until } from '../../support/time.ts';

// Pulls from a catalog service played by the test, which answers correctly or wrongly (catalog spec: POST /catalog/pull, POST /catalog/on_pull).

let pulling: Pulling;
let network: TestNetwork;
let service: PlayedService;
let discovery: TestDiscovery;
let answerWith: Pulling['answerWith'];

beforeAll(async () => {
  pulling = await startPulling();
  ({ network, service, discovery, answerWith } = pulling);
});
afterAll(() => pulling?.close());
afterEach(() => pulling.calm());

describe('pulling', () => {
  it('asks for everything of its subscription, page by page', async () => {
    service.catalogs = Array.from({ length: 250 }, (_, index) => catalog(`many-${index}`));
    const before = service.pulls.length;
    await discovery.pull();
    const messages = service.pulls.slice(before).map(({ body }) => body.message);
    expect(messages.map(({ offset }) => offset)).toEqual([0, 100, 200]);
    expect(messages[0]).toEqual({ subscriptionId: expect.any(String), mode: 'FULL', limit: 100, offset: 0 });
    const { rows } = await network.database.query(
      "select count(*) from discovery.catalog where id like 'many-%'",
    );
    expect(rows).toEqual([{ count: 250 }]);
  });

  it('follows the page length of a service that gives fewer than it was asked for', async () => {
    service.catalogs = Array.from({ length: 5 }, (_, index) => catalog(`few-${index}`));
    service.onPull = async (pull) => {
      const { offset } = pull.body.message;
      await service.answer(
        pull,
        completed(service.catalogs.slice(offset, offset + 2), { total: 5, limit: 2, offset }),
      );
    };
    await discovery.pull();
    const { rows } = await network.database.query(
      "select count(*) from discovery.catalog where id like 'few-%'",
    );
    expect(rows).toEqual([{ count: 5 }]);
  });

  it('holds what a search says to be a master as a MASTER', async () => {
    const id = newId();
    service.catalogs = [catalog(id)];
    service.masters = [catalog(id)];
    await discovery.pull();
    expect(await held(network.database, id)).toMatchObject({ type: 'MASTER' });
    service.masters = [];
  });

  it('FAILED, whatever its code: applies nothing and pulls again with patience', async () => {
    const id = newId();
    service.catalogs = [catalog(id)];
    const failed = (code: string) => (pull: Received) =>
      service.answer(pull, { status: 'FAILED', error: { code, message: 'not now' } });
    answerWith(failed('NET_CATALOG_SOURCE_UNAVAILABLE'), failed('NET_CATALOG_STALE'), failed('X_UNKNOWN'));
    const before = service.pulls.length;
    await discovery.pull();
    const times = service.pulls.slice(before).map(({ at }) => at);
    expect(times).toHaveLength(4);
    // 50 ms, doubled each time, of which at least half passes.
    expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(25 + 50 + 100);
    expect(await held(network.database, id)).toBeDefined();
    const { rows } = await network.database.query('select failures, last_error from discovery.feed');
    expect(rows).toEqual([{ failures: 0, last_error: null }]);
  });

  it('does not apply a catalog of which a push came after the pull was sent', async () => {
    const id = newId();
    const named = (name: string) => catalog(id, { resources: [plain('a', name)] });
    await service.push([named('first')], { visibleTo: [retail] });
    answerWith(async (pull) => {
      await service.push([named('pushed')], { visibleTo: [retail] });
      await service.answer(pull, completed([named('pulled')], { total: 1, limit: 100, offset: 0 }));
    });
    service.catalogs = [named('pulled')];
    await discovery.pull();
    expect(await names(network.database, id)).toEqual(['pushed']);
    await discovery.pull();
    expect(await names(network.database, id)).toEqual(['pulled']);
  });

  it.each([
    ['', 'CTX_INVALID_FIELD'],
    [', and answers with an error that cannot become text', { toString: 1, valueOf: 1 }],
  ])('subscribes again when the service does not know the subscription any more%s', async (_, code) => {
    const id = newId();
    service.catalogs = [catalog(id)];
    let refused = 0;
    service.reply = ({ action }) => {
      if (action !== 'catalog/pull' || refused > 0) return undefined;
      refused += 1;
      return { status: 404, body: { message: { status: 'NACK', error: { code, message: 'unknown' } } } };
    };
    const subscriptionId = async () =>
      (await network.database.query('select subscription_id from discovery.feed')).rows[0]?.subscription_id;
    const before = await subscriptionId();
    await discovery.pull();
    expect(await subscriptionId()).not.toBe(before);
    expect(await held(network.database, id)).toBeDefined();
  });

  it('takes the on_pull of a pull that was sent before a restart', async () => {
    const id = newId();
    const sent = new Promise<Received>((resolve) => {
      service.onPull = async (pull) => resolve(pull);
    });
    await network.database.transaction(async (tx) => {
      await tx.query('update discovery.feed set pull_at = now(), due_at = now()');
      tx.hint(feedTable);
    });
    const pull = await sent;
    service.onPull = undefined;
    await discovery.stop();
    await discovery.start();
    const { status } = await service.answer(
      pull,
      completed([catalog(id)], { total: 1, limit: 100, offset: 0 }),
    );
    expect(status).toBe(200);
    await until(async () => (await held(network.database, id)) !== undefined, 'the catalog');
  });
});

describe('a subscription to every network', () => {
  it('brings catalogs whose networks are not known until a push names them', async () => {
    const every = await playService(network, 'every', () => discovery.url);
    const id = newId();
    every.catalogs = [catalog(id)];
    await discovery.stop();
    await discovery.start([
      { catalogUrl: service.actor.url, networkIds: [retail] },
      { catalogUrl: every.actor.url },
    ]);
    await discovery.settled();
    expect(await held(network.database, id)).toMatchObject({ networks: [] });
    await every.push([catalog(id)], { visibleTo: ['x.example/y'] });
    expect(await held(network.database, id)).toMatchObject({ networks: ['x.example/y'] });
    await discovery.pull();
    expect(await held(network.database, id)).toMatchObject({ networks: ['x.example/y'] });
    every.catalogs = [];
    await discovery.pull();
    await discovery.pull();
    expect(await held(network.database, id)).toBeUndefined();
    await discovery.stop();
    await discovery.start();
  });
});
