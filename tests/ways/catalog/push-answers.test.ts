import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listPushes, replayPushes } from '../../../src/storage/catalog/push-list.ts';
import { newId, offer, publishCatalog, resource } from '../../support/catalogs/small-catalogs.ts';
import { gate } from '../../support/gate.ts';
import type { Actor, Reply } from '../../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../../support/network/network.ts';
import {
  allPushed,
  currentCopies,
  holdBack,
  type Push,
  type Receiver,
  startReceiver,
} from '../../support/network/receiver.ts';
import { until, watchFor } from '../../support/time.ts';

// The effect of each answer to a push (catalog spec: POST /catalog/push, the table of answers). No receiver waits for another.

let network: TestNetwork;
let provider: Actor;
let ds: Receiver;

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider');
  ds = await startReceiver(network, 'ds');
  await ds.subscribe({ networkIds: [defaultNetwork] });
});
afterAll(() => network.close());
beforeEach(async () => {
  ds.answer(() => undefined);
  await allPushed(network);
});

const publish = (id: string, ...names: string[]) =>
  publishCatalog(provider, { id, resources: names.map((name) => resource(name)) });

/** The first push of a catalog is answered with success, the next with this reply, and all others with success again. */
async function pushedThenAnswered(id: string, reply: Reply): Promise<void> {
  await publish(id, 'r1');
  await ds.waitFor(id, 1);
  let answered = false;
  ds.answer(({ catalogId }) => {
    if (catalogId !== id || answered) return undefined;
    answered = true;
    return reply;
  });
  await publish(id, 'r2');
  await ds.waitFor(id, 2);
}

async function expectInStep(id: string): Promise<void> {
  await allPushed(network);
  expect(ds.copies.get(id)).toEqual((await currentCopies(network, [id])).get(id));
}

async function stateOf(id: string) {
  const pushes = await listPushes(network.database, { limit: 1_000 });
  return pushes.find(({ catalogId }) => catalogId === id);
}

const modes = (pushes: Push[]) => pushes.map(({ updateMode }) => updateMode);

describe('the answer', () => {
  it('202: a success; the next change goes as FULL', async () => {
    const id = newId();
    const error = { code: 'BIZ_NO_RESULTS_FOUND', message: 'no subscription here' };
    await pushedThenAnswered(id, { status: 202, body: { message: { status: 'ACK', error } } });
    await allPushed(network);
    expect(await stateOf(id)).toMatchObject({
      state: 'acknowledged',
      lastStatus: 202,
      lastError: 'BIZ_NO_RESULTS_FOUND no subscription here',
      acknowledgedVersion: 2,
    });
    await publish(id, 'r3');
    expect(modes(await ds.waitFor(id, 3))).toEqual(['FULL', 'MERGE', 'FULL']);
    await expectInStep(id);
  });

  it.each([
    ['400', { status: 400 }],
    ['200 with NACK', { status: 200, body: { message: { status: 'NACK' } } }],
  ])('%s: parked until the next change, which goes as FULL', async (_, reply) => {
    const id = newId();
    await pushedThenAnswered(id, reply);
    await allPushed(network);
    await watchFor(200);
    expect(await ds.waitFor(id, 2)).toHaveLength(2);
    expect(await stateOf(id)).toMatchObject({
      state: 'parked',
      lastStatus: reply.status,
      acknowledgedVersion: 1,
    });
    await publish(id, 'r3');
    expect(modes(await ds.waitFor(id, 3))).toEqual(['FULL', 'MERGE', 'FULL']);
    await expectInStep(id);
    expect(await stateOf(id)).toMatchObject({ state: 'acknowledged', lastError: null });
  });

  it.each([401, 403, 404, 408, 429, 500, 503])('%i: tried again, as MERGE as before', async (status) => {
    const id = newId();
    await pushedThenAnswered(id, { status });
    expect(modes(await ds.waitFor(id, 3))).toEqual(['FULL', 'MERGE', 'MERGE']);
    await expectInStep(id);
    expect(await stateOf(id)).toMatchObject({ state: 'acknowledged', attempts: 0, failingSince: null });
  });

  it.each([502, 504])('%i: a gateway that does not know what became of it: FULL', async (status) => {
    const id = newId();
    await pushedThenAnswered(id, { status });
    expect(modes(await ds.waitFor(id, 3))).toEqual(['FULL', 'MERGE', 'FULL']);
    await expectInStep(id);
  });

  it('none, because the connection broke: nobody knows what became of it, so FULL', async () => {
    const id = newId();
    await pushedThenAnswered(id, { status: 200, hangUp: true });
    expect(modes(await ds.waitFor(id, 3))).toEqual(['FULL', 'MERGE', 'FULL']);
    await expectInStep(id);
  });

  it('Retry-After: respected, also when the catalog changes meanwhile; then one push brings all', async () => {
    const id = newId();
    await pushedThenAnswered(id, { status: 429, headers: { 'retry-after': '2' } });
    const [, refused] = await ds.waitFor(id, 2);
    await publish(id, 'r3');
    const [, , again] = await ds.waitFor(id, 3);
    expect((again?.received.at ?? 0) - (refused?.received.at ?? 0)).toBeGreaterThanOrEqual(1_990);
    expect(again).toMatchObject({ updateMode: 'MERGE', resourceIds: ['r2', 'r3'] });
    await expectInStep(id);
  });

  it('413: sent again at once in parts of half the size, and so on; the size is remembered', async () => {
    const id = newId();
    const limit = 4_000;
    const names = Array.from({ length: 100 }, (_, index) => `resource-${index}`);
    ds.answer(({ received }) => (received.raw.length > limit ? { status: 413 } : undefined));
    await publishCatalog(provider, {
      id,
      resources: names.map((name) => resource(name)),
      offers: [offer('o1')],
    });
    await expectInStep(id);
    const taken = (await ds.waitFor(id, 1)).filter(({ received }) => received.raw.length <= limit);
    expect(taken.length).toBeGreaterThan(2);
    expect(modes(taken)).toEqual(['FULL', ...taken.slice(1).map(() => 'MERGE')]);
    expect(new Set(taken.map(({ received }) => received.body.context.transactionId)).size).toBe(1);
    expect(new Set(taken.map(({ received }) => received.body.context.messageId)).size).toBe(taken.length);

    const before = ds.pushes.length;
    await publishCatalog(provider, { id, resources: names.map((name) => resource(name, 'changed')) });
    await expectInStep(id);
    const later = ds.pushes.slice(before);
    expect(later.every(({ received }) => received.raw.length <= limit)).toBe(true);
    expect(modes(later)).toEqual(later.map(() => 'MERGE'));
  });

  it('413: bodies grow again, once the receiver takes larger ones', async () => {
    const id = newId();
    await publish(id, 'r1');
    await expectInStep(id);
    await network.database.query('update catalog.push set part_bytes = 10485000');
    await publish(id, 'r2');
    await expectInStep(id);
    const { rows } = await network.database.query(
      'select part_bytes from catalog.push join catalog.catalog on key = catalog_key where catalog.id = $1',
      [id],
    );
    expect(rows).toEqual([{ part_bytes: null }]);
  });

  it('413 to a single small resource: tried again with patience, not at once for ever', async () => {
    const id = newId();
    ds.answer(() => ({ status: 413 }));
    await publish(id, 'r1');
    const [, , third] = await ds.waitFor(id, 3);
    await until(async () => (await stateOf(id))?.failingSince !== null, 'a failure');
    expect(third).toMatchObject({ updateMode: 'FULL' });
    ds.answer(() => undefined);
    await expectInStep(id);
  });

  it('a failing part: everything again, from the whole catalog', async () => {
    const id = newId();
    await publish(id, 'r1');
    await ds.waitFor(id, 1);
    await allPushed(network);
    await network.database.query('update catalog.push set part_bytes = 1500');
    let pushes = 0;
    ds.answer(({ catalogId }) => {
      pushes += catalogId === id ? 1 : 0;
      return pushes === 2 ? { status: 503 } : undefined;
    });
    await publish(id, ...Array.from({ length: 20 }, (_, index) => `resource-${index}`));
    await expectInStep(id);
    const [, first, failing, again] = await ds.waitFor(id, 4);
    expect(modes([first, failing, again].filter((push) => push !== undefined))).toEqual([
      'MERGE',
      'MERGE',
      'FULL',
    ]);
  });
});

describe('a receiver', () => {
  it('that is down for a while gets everything in one push when it is back', async () => {
    const id = newId();
    await publish(id, 'r1');
    await ds.waitFor(id, 1);
    await ds.actor.stop();
    for (const name of ['r2', 'r3', 'r4']) await publish(id, name);
    await until(async () => (await stateOf(id))?.failingSince !== null, 'a failing push');
    await ds.actor.listen();
    const [, second] = await ds.waitFor(id, 2);
    expect(second).toMatchObject({ updateMode: 'FULL', resourceIds: ['r1', 'r2', 'r3', 'r4'] });
    await expectInStep(id);
    expect(await ds.waitFor(id, 2)).toHaveLength(2);
  });

  it('that is slow holds at most 4 pushes, and delays neither other receivers nor their catalogs', async () => {
    const [slow, quick] = [await startReceiver(network, 'slow'), await startReceiver(network, 'quick')];
    const answers = gate();
    const most = holdBack(slow, answers);
    await Promise.all([slow, quick].map((one) => one.subscribe({ networkIds: [defaultNetwork] })));
    const ids = Array.from({ length: 10 }, newId);
    for (const id of ids) await publish(id, 'r1');
    await until(() => quick.pushes.length === ids.length, 'all pushes to the quick receiver');
    await until(() => most() === 4, 'all pushes that the slow receiver is sent at once');
    expect(slow.copies.size).toBeLessThan(ids.length);
    answers.open();
    await until(() => slow.copies.size === ids.length, 'all pushes to the slow receiver');
    expect(most()).toBe(4);
    await network.database.query("delete from catalog.subscription where owner not like 'ds.%'");
  });

  it('that was sent something when the service stopped gets the whole catalog from its successor', async () => {
    const id = newId();
    await publish(id, 'r1');
    await ds.waitFor(id, 1);
    await allPushed(network);
    // As a killed process leaves it: sent, without a recorded outcome.
    await network.database.query(
      'update catalog.push set in_flight = true from catalog.catalog where key = catalog_key and catalog.id = $1',
      [id],
    );
    await publish(id, 'r2');
    expect(modes(await ds.waitFor(id, 2))).toEqual(['FULL', 'FULL']);
    await expectInStep(id);
  });

  it('that has everything goes on with MERGE after a restart of the service', async () => {
    const id = newId();
    await publish(id, 'r1');
    await ds.waitFor(id, 1);
    await allPushed(network);
    await network.restart();
    await publish(id, 'r2');
    expect(modes(await ds.waitFor(id, 2))).toEqual(['FULL', 'MERGE']);
    await expectInStep(id);
  });

  it('that fails for longer than RETRY_HOURS is left alone until an operator replays it or the catalog changes', async () => {
    const id = newId();
    ds.answer(({ catalogId }) => (catalogId === id ? { status: 500 } : undefined));
    await publish(id, 'r1');
    await ds.waitFor(id, 1);
    // An attempt under way may write its own failing_since over this one.
    await until(async () => {
      await network.database.query(
        "update catalog.push set failing_since = now() - interval '25 hours' where due_at is not null",
      );
      return (await stateOf(id))?.state === 'parked';
    }, 'the push to be parked');
    expect(await stateOf(id)).toMatchObject({
      state: 'parked',
      lastStatus: 500,
      lastError: 'the receiver answered 500',
      acknowledgedVersion: null,
    });
    ds.answer(() => undefined);
    expect(await replayPushes(network.database, { id: (await stateOf(id))?.id })).toBe(1);
    await expectInStep(id);
    expect(await replayPushes(network.database)).toBe(0);
  });
});
