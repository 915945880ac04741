import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listCallbacksTo } from '../../src/storage/work/callback-list.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { newId, publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import { gate } from '../support/gate.ts';
import type { Actor } from '../support/network/actor.ts';
import { consoleOf } from '../support/network/console.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { submit } from '../support/network/publish.ts';
import { allPushed, type Receiver, startReceiver } from '../support/network/receiver.ts';
import { until } from '../support/time.ts';

// Deliveries as the console shows them to operators, on a real catalog service with receivers that refuse.

let network: TestNetwork;
let provider: Actor;
let ds: Receiver;
let desk: ReturnType<typeof consoleOf>;

beforeAll(async () => {
  network = await startNetwork({ settings: { ROLES: 'registry,catalog,console' } });
  desk = consoleOf(network);
  provider = await network.actor('provider');
  ds = await startReceiver(network, 'ds');
  await ds.subscribe({ networkIds: [defaultNetwork] });
});
afterAll(() => network?.close());
beforeEach(() => ds.answer(() => undefined));

const identity = 'ds.signpost.test/subscribers.beckn.one';

/** A catalog whose push is parked, because its receiver answered 400. */
async function parked(): Promise<{ catalogId: string; id: string }> {
  const catalogId = newId();
  ds.answer((push) => (push.catalogId === catalogId ? { status: 400 } : undefined));
  await publishCatalog(provider, { id: catalogId, resources: [resource('r1')] });
  const item = await until(async () => {
    const { items } = await desk.get('/api/deliveries?state=parked');
    return items.find(({ about }: { about: string }) => about === catalogId);
  }, 'the push to be parked');
  return { catalogId, id: item.id };
}

describe('GET /api/deliveries', () => {
  it('lists what is parked, with the answer of its receiver and what that has', async () => {
    const { catalogId, id } = await parked();
    const { items } = await desk.get(`/api/deliveries?state=parked&receiver=${encodeURIComponent(identity)}`);
    expect(items).toContainEqual(
      expect.objectContaining({
        ...{ id, receiver: identity, action: 'catalog/push', about: catalogId, state: 'parked' },
        ...{ detail: 'parked', lastStatus: 400, version: 1 },
      }),
    );
    expect(items[0]).not.toHaveProperty('nextTryAt');
  });

  it('lists parked ones first, and in each state callbacks before pushes, each once, however small the pages are', async () => {
    const sound = newId();
    await publishCatalog(provider, { id: sound, resources: [resource('r1')] });
    await until(() => ds.copies.has(sound), 'the push');
    await parked();
    await allPushed(network);
    const small = await desk.all('/api/deliveries', 1);
    const whole = await desk.all('/api/deliveries');
    expect(small.items.map(({ id }) => id)).toEqual(whole.items.map(({ id }) => id));
    const { items } = await desk.get('/api/deliveries?limit=200');
    const places = items.map(
      ({ state, id }: { state: string; id: string }) => `${state} ${id.split('-')[0]}`,
    );
    expect([...new Set(places)]).toEqual(['parked push', 'delivered callback', 'delivered push']);
    expect(new Set(whole.items.map(({ id }) => id)).size).toBe(whole.items.length);
  });

  it('finds the callbacks to one receiver among those to others, looking at so many at a time', async () => {
    const receiver = 'https://tenth.example.org';
    await network.database.query(
      `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, state)
       select 'catalog', 'catalog/on_publish', 'm-' || n, 'https://x.example.org', case when n % 10 = 0 then $1 else 'https://other.example.org' end,
         '', 's', now(), case when n = 40 then 'parked' else 'delivered' end from generate_series(1, 45) as n`,
      [receiver],
    );
    const listed = async (state?: 'parked' | 'delivered') => {
      const found: string[] = [];
      for (let before: number | undefined, isMore = true; isMore; isMore = before !== undefined) {
        const page = { receiver, state, limit: 2, before, lookAt: 15 };
        const { callbacks, next } = await listCallbacksTo(network.database, page);
        found.push(...callbacks.map(({ messageId }) => messageId));
        before = next;
      }
      return found;
    };
    expect(await listed()).toEqual(['m-40', 'm-30', 'm-20', 'm-10']);
    expect(await listed('delivered')).toEqual(['m-30', 'm-20', 'm-10']);
    expect(await listed('parked')).toEqual(['m-40']);
    const { items } = await desk.get(`/api/deliveries?receiver=${receiver}`);
    expect(items.map(({ about }: { about: string }) => about)).toEqual(['m-40', 'm-30', 'm-20', 'm-10']);
    await network.database.query("delete from work.callback where receiver like '%.example.org'");
  });

  it('refuses a cursor of another list, and a state that there is not', async () => {
    const { status, body } = await desk.ask('/api/deliveries?after=bm9uc2Vuc2U');
    expect([status, body.error.path]).toEqual([400, '$.query.after']);
    expect((await desk.ask('/api/deliveries?state=lost')).body.error.path).toBe('$.query.state');
  });
});

describe('GET /api/deliveries/{id}', () => {
  it('shows each request of a parked push with its time, duration, status, answer and beginning, and when it began to fail', async () => {
    const before = new Date().toISOString();
    const { id, catalogId } = await parked();
    const delivery = await desk.get(`/api/deliveries/${id}`);
    expect(delivery).toMatchObject({ id, state: 'parked', attempts: 1, about: catalogId });
    expect(delivery.failingSince >= before).toBe(true);
    expect(delivery.history).toEqual([
      {
        at: expect.stringMatching(/Z$/),
        durationMs: expect.any(Number),
        url: expect.stringMatching(/\/catalog\/push$/),
        status: 400,
        answer: expect.any(String),
        request: expect.stringMatching(new RegExp(`^\\{"message":.*${catalogId}.*"action":"catalog/push"`)),
      },
    ]);
    ds.answer(() => undefined);
    await desk.ask(`/api/deliveries/${id}/replay`, { method: 'POST' });
    await until(() => ds.copies.has(catalogId), 'the push');
    await allPushed(network);
    const delivered = await desk.get(`/api/deliveries/${id}`);
    expect(delivered.history.map(({ status }: { status: number }) => status)).toEqual([400, 200]);
    expect(delivered).not.toHaveProperty('failingSince');
  });

  it('shows the attempts of a callback whose receiver cannot be reached', async () => {
    const lost = await network.actor('lost');
    await lost.stop();
    await submit(lost, catalog(newId()));
    const item = await until(async () => {
      const { items } = await desk.get(`/api/deliveries?receiver=${lost.url}`);
      return items.find(({ lastError }: { lastError?: string }) => lastError !== undefined);
    }, 'a failed attempt');
    const { history } = await desk.get(`/api/deliveries/${item.id}`);
    expect(history[0]).toMatchObject({ answer: expect.stringContaining('cannot be reached') });
    expect(history[0]).not.toHaveProperty('status');
    const { items: receivers } = await desk.get('/api/receivers');
    expect(receivers.map(({ receiver }: { receiver: string }) => receiver)).toContain(lost.url);
  });

  it('says that there is none', async () => {
    expect(await desk.ask('/api/deliveries/push-999999')).toMatchObject({ status: 404 });
    expect(await desk.ask('/api/deliveries/nonsense')).toMatchObject({ status: 404 });
  });
});

describe('POST /api/deliveries/{id}/replay', () => {
  it('has a parked push tried again, and says no where it is not parked', async () => {
    const { catalogId, id } = await parked();
    ds.answer(() => undefined);
    expect(await desk.ask(`/api/deliveries/${id}/replay`, { method: 'POST' })).toMatchObject({
      status: 200,
      body: { id },
    });
    await until(() => ds.copies.has(catalogId), 'the push');
    await allPushed(network);
    const again = await desk.ask(`/api/deliveries/${id}/replay`, { method: 'POST' });
    expect([again.status, again.body.error.message]).toEqual([409, `${id} is not parked.`]);
  });

  it('is written to the audit log, also where it failed', async () => {
    const { id } = await parked();
    ds.answer(() => undefined);
    await desk.ask(`/api/deliveries/${id}/replay`, { method: 'POST' });
    await desk.ask('/api/deliveries/push-999999/replay', { method: 'POST' });
    const { items } = await desk.get('/api/audit?limit=2');
    expect(items).toMatchObject([
      {
        ...{ action: 'deliveries.replay', target: 'push-999999' },
        outcome: 'BIZ_INVALID_STATE_TRANSITION: push-999999 is not parked.',
      },
      { action: 'deliveries.replay', target: id, outcome: 'done', from: '127.0.0.1' },
    ]);
  });

  it('knows no other ids', async () => {
    expect((await desk.ask('/api/deliveries/letter-1/replay', { method: 'POST' })).status).toBe(404);
  });
});

describe('POST /api/deliveries/replay', () => {
  it('has all of one receiver tried again', async () => {
    const parkedOnes = [await parked(), await parked()];
    ds.answer(() => undefined);
    const other = await desk.ask('/api/deliveries/replay', { body: { receiver: 'nobody.example/registry' } });
    expect(other.body).toEqual({ callbacks: 0, pushes: 0 });
    const { body } = await desk.ask('/api/deliveries/replay', { body: { receiver: identity } });
    expect(body).toEqual({ callbacks: 0, pushes: expect.any(Number) });
    expect(body.pushes).toBeGreaterThanOrEqual(2);
    await until(() => parkedOnes.every(({ catalogId }) => ds.copies.has(catalogId)), 'the pushes');
  });
});

describe('POST /api/deliveries/{id}/skip', () => {
  it('gives a parked push up until the catalog changes, which is pushed whole', async () => {
    const { catalogId, id } = await parked();
    expect((await desk.ask(`/api/deliveries/${id}/skip`, { method: 'POST' })).status).toBe(200);
    const { items } = await desk.all('/api/deliveries');
    expect(items.find((item) => item.id === id)).toMatchObject({ state: 'delivered', detail: 'skipped' });
    const again = await desk.ask(`/api/deliveries/${id}/skip`, { method: 'POST' });
    expect([again.status, again.body.error.hint]).toEqual([
      409,
      'A delivery that is being sent cannot be skipped.',
    ]);
    ds.answer(() => undefined);
    await publishCatalog(provider, { id: catalogId, resources: [resource('r2')] });
    const pushes = await ds.waitFor(catalogId, 2);
    expect(pushes.map(({ updateMode }) => updateMode)).toEqual(['FULL', 'FULL']);
    await allPushed(network);
    expect(Object.keys(ds.copies.get(catalogId)?.resources ?? {})).toEqual(['r1', 'r2']);
  });

  it('gives a push up for good that is on its way, and says so where the publish and the chain are shown', async () => {
    const catalogId = newId();
    const held = gate();
    ds.answer(async (push) => {
      if (push.catalogId !== catalogId) return undefined;
      await held.passed;
      return { status: 503 };
    });
    const messageId = await submit(provider, catalog(catalogId, { resources: [plain('late')] }));
    await ds.waitFor(catalogId, 1);
    const find = async () => {
      const { items } = await desk.get(`/api/deliveries?receiver=${encodeURIComponent(identity)}`);
      return items.find(({ about }: { about: string }) => about === catalogId);
    };
    const { id } = await find();
    expect((await desk.ask(`/api/deliveries/${id}/skip`, { method: 'POST' })).status).toBe(200);
    held.open();
    await until(async () => (await find()).lastStatus === 503, 'the answer to be written');
    expect(await find()).toMatchObject({ state: 'delivered', detail: 'skipped' });
    expect(await find()).not.toHaveProperty('nextTryAt');
    const { steps } = await desk.get(`/api/publish/${messageId}`);
    expect(steps.find(({ step }: { step: string }) => step === 'pushed')).toMatchObject({
      ...{ state: 'failed', detail: expect.stringContaining('1 skipped by an operator') },
    });
    const { chain } = await desk.get(`/api/inspect?q=${catalogId}`);
    expect(chain.find(({ link }: { link: string }) => link === 'push')).toMatchObject({
      ...{ state: 'broken', code: 'skipped', hint: expect.any(String) },
    });
  });

  it('gives a callback up that waits', async () => {
    const { rows } = await network.database.query<{ id: number }>(
      `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, due_at)
       values ('catalog', 'catalog/on_publish', 'm-1', 'https://bpp.example.org/on', 'https://bpp.example.org', 'x', 's',
         now() + interval '1 day', now() + interval '1 hour') returning id`,
    );
    const id = `callback-${rows[0]?.id}`;
    // A push of an earlier test may also still wait.
    const open = async () => {
      const { items } = await desk.get('/api/receivers?state=open');
      return items.filter(({ receiver }: { receiver: string }) => receiver === 'https://bpp.example.org');
    };
    expect(await open()).toMatchObject([{ kind: 'callback', waiting: 1, parked: 0, orMore: false }]);
    expect((await desk.ask(`/api/deliveries/${id}/skip`, { method: 'POST' })).status).toBe(200);
    expect(await open()).toEqual([]);
    expect((await desk.get('/api/deliveries?receiver=https://bpp.example.org')).items).toMatchObject([
      { id, state: 'delivered', detail: 'skipped' },
    ]);
  });
});

describe('GET /api/receivers', () => {
  it('tells what waits for whom, what is parked, and the last answer', async () => {
    await parked();
    const { items } = await desk.get('/api/receivers');
    expect(items).toContainEqual(
      expect.objectContaining({
        ...{ receiver: identity, kind: 'push', waiting: 0, orMore: false },
        lastAnswer: expect.objectContaining({ status: 400, at: expect.stringMatching(/^\d{4}-/) }),
      }),
    );
    expect(items[0]).toMatchObject({ receiver: identity, isTroubled: true });
    expect(items[0].parked).toBeGreaterThan(0);
  });

  it('lists a thousand receivers of both kinds page by page, each once, by name', async () => {
    await network.database.query(
      `insert into catalog.push_lane (subscriber) select 'ds-' || lpad(n::text, 4, '0') || '.example.org/registry' from generate_series(1, 500) as n`,
    );
    await network.database.query(
      `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, state)
       select 'catalog', 'catalog/on_publish', 'm', 'https://x.example.org', 'https://bpp-' || lpad((n % 500)::text, 4, '0') || '.example.org', '', 's',
         now(), 'parked' from generate_series(1, 5000) as n`,
    );
    const { items, pages } = await desk.all('/api/receivers', 90);
    const listed = items as unknown as { kind: string; receiver: string; parked: number }[];
    const receivers = listed.filter(({ receiver }) => /^(?:ds|https:\/\/bpp)-\d{4}/.test(receiver));
    expect([receivers.length, pages]).toEqual([1000, 12]);
    expect(new Set(receivers.map(({ receiver }) => receiver)).size).toBe(1000);
    const callbacks = receivers.filter(({ kind }) => kind === 'callback');
    expect(callbacks.map(({ parked: count }) => count)).toEqual(Array(500).fill(10));
  });
});
