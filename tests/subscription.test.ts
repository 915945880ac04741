import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxActiveSubscriptions } from '../src/catalog/subscription.ts';
import { actions } from '../src/protocol/actions.ts';
import type { Actor } from './support/actor.ts';
import { startNetwork, type TestNetwork } from './support/network.ts';

// Subscriptions over real HTTP and signatures (catalog spec: POST, GET, DELETE /catalog/subscription).

const { subscribe, listSubscriptions, unsubscribe } = actions;
const chargers = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

let network: TestNetwork;
let ds: Actor;
let other: Actor;

beforeAll(async () => {
  network = await startNetwork();
  ds = await network.actor('ds');
  other = await network.actor('other-ds');
});
afterAll(() => network.close());
beforeEach(() => network.database.query('truncate catalog.subscription'));

async function create(subscription: object, actor = ds) {
  const { status, body } = await actor.send(subscribe, { subscription });
  expect(status).toBe(200);
  return body.message.subscriptions[0];
}

async function count(): Promise<number> {
  const { rows } = await network.database.query<{ count: number }>(
    'select count(*) from catalog.subscription',
  );
  return rows[0]?.count ?? 0;
}

describe('POST /catalog/subscription', () => {
  it('creates an ACTIVE subscription and returns it in a signed on_subscription that echoes the request', async () => {
    const context = { messageId: 'm-1', transactionId: 't-1', timestamp: new Date().toISOString() };
    const { status, body, answerSigned } = await ds.send(
      subscribe,
      { subscription: { networkIds: ['a.org/net'], schemaTypes: [chargers] } },
      { context },
    );
    expect(status).toBe(200);
    expect(answerSigned).toBe(true);
    expect(body.context).toEqual({ version: '2.0.0', action: 'catalog/on_subscription', ...context });
    expect(body.message).toEqual({
      subscriptions: [
        {
          subscriptionId: expect.stringMatching(
            /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
          ),
          status: 'ACTIVE',
          networkIds: ['a.org/net'],
          schemaTypes: [chargers],
          createdAt: expect.stringMatching(/Z$/),
          updatedAt: expect.stringMatching(/Z$/),
        },
      ],
    });
  });

  it('takes networkIds alone and schemaTypes alone; the other one is then empty', async () => {
    expect(await create({ networkIds: ['a.org/net'] })).toMatchObject({
      networkIds: ['a.org/net'],
      schemaTypes: [],
    });
    expect(await create({ schemaTypes: [chargers] })).toMatchObject({
      networkIds: [],
      schemaTypes: [chargers],
    });
  });

  it('returns the identical ACTIVE subscription of the same owner instead of a second one', async () => {
    const first = await create({ networkIds: ['a.org/net', 'b.org/net'], schemaTypes: [] });
    const again = await create({ networkIds: ['b.org/net', 'a.org/net', 'a.org/net'] });
    expect(again).toEqual(first);
    expect(await count()).toBe(1);
    expect((await create({ networkIds: ['a.org/net'] })).subscriptionId).not.toBe(first.subscriptionId);
    expect((await create({ networkIds: ['a.org/net', 'b.org/net'] }, other)).subscriptionId).not.toBe(
      first.subscriptionId,
    );
  });

  it('makes a new one beside an INACTIVE one', async () => {
    const first = await create({ networkIds: ['a.org/net'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId: first.subscriptionId } });
    expect((await create({ networkIds: ['a.org/net'] })).subscriptionId).not.toBe(first.subscriptionId);
  });

  it('makes one of many identical creations at the same moment', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => create({ networkIds: ['a.org/net'] })));
    expect(new Set(made.map(({ subscriptionId }) => subscriptionId)).size).toBe(1);
    expect(await count()).toBe(1);
  });

  it('answers the same request again with the same answer, also after the subscription has changed', async () => {
    const messageId = randomUUID();
    const message = { subscription: { networkIds: ['a.org/net'] } };
    const timestamp = new Date().toISOString();
    const transactionId = 't';
    const first = await ds.send(subscribe, message, { context: { messageId, transactionId, timestamp } });
    const { subscriptionId } = first.body.message.subscriptions[0];
    await ds.send(unsubscribe, undefined, { query: { subscriptionId } });
    const again = await ds.send(subscribe, message, { context: { messageId, transactionId, timestamp } });
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(1);
  });

  it('refuses another body under the same messageId with CTX_MESSAGE_ID_DUPLICATE', async () => {
    const context = { messageId: randomUUID() };
    await ds.send(subscribe, { subscription: { networkIds: ['a.org/net'] } }, { context });
    const other = await ds.send(subscribe, { subscription: { networkIds: ['b.org/net'] } }, { context });
    expect(other.status).toBe(400);
    expect(other.body.message).toMatchObject({ status: 'NACK', error: { code: 'CTX_MESSAGE_ID_DUPLICATE' } });
  });
});

describe('POST /catalog/subscription refuses', () => {
  it('POL_NP_CAPACITY_EXCEEDED: more than a caller may have ACTIVE, new or again', async () => {
    const { subscriptionId } = await create({ networkIds: ['first.org/net'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId } });
    await network.database.query(
      `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
       select gen_random_uuid(), owner, 'ACTIVE', array[number || '.org/net'], '{}', now(), now()
       from catalog.subscription cross join generate_series(1, $1::integer) as number`,
      [maxActiveSubscriptions],
    );
    const message = { subscription: { networkIds: ['one-more.org/net'] } };
    for (const query of [undefined, { subscriptionId }]) {
      const { status, body } = await ds.send(subscribe, message, { query });
      expect([status, body.message.error.code]).toEqual([403, 'POL_NP_CAPACITY_EXCEEDED']);
    }
    expect(await create({ networkIds: ['1.org/net'] })).toMatchObject({ status: 'ACTIVE' });
    expect(await create({ networkIds: ['one-more.org/net'] }, other)).toMatchObject({ status: 'ACTIVE' });
    expect(await count()).toBe(maxActiveSubscriptions + 2);
  });

  it.each([
    ['SCH_REQUIRED_FIELD_MISSING: neither networkIds nor schemaTypes', {}, '$.message.subscription'],
    [
      'SCH_FIELD_NOT_ALLOWED: an unknown member',
      { networkIds: [], networks: [] },
      '$.message.subscription.networks',
    ],
    [
      'SCH_SCHEMA_VALIDATION_FAILED: networkIds that are no array',
      { networkIds: 'a' },
      '$.message.subscription.networkIds',
    ],
    ['SCH_INVALID_FORMAT: an empty network id', { networkIds: [''] }, '$.message.subscription.networkIds[0]'],
  ])('%s', async (name, subscription, path) => {
    const { status, body, messageId } = await ds.send(subscribe, { subscription });
    expect(status).toBe(400);
    expect(body.message).toMatchObject({
      status: 'NACK',
      messageId,
      error: { code: name.split(':')[0], details: { path } },
    });
    expect(await count()).toBe(0);
  });

  it('CTX_ACTION_MISMATCH: another action', async () => {
    const { status, body } = await ds.send(
      subscribe,
      { subscription: { networkIds: [] } },
      { context: { action: 'catalog/pull' } },
    );
    expect([status, body.message.error.code]).toEqual([400, 'CTX_ACTION_MISMATCH']);
  });

  it('AUT_UNAUTHORIZED_ACTION: a context that names somebody else', async () => {
    const { status, body } = await ds.send(
      subscribe,
      { subscription: { networkIds: [] } },
      { context: { bapId: other.id } },
    );
    expect([status, body.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
  });

  it('AUT_SIGNATURE_MISSING: no Authorization header', async () => {
    const response = await fetch(`${network.catalogUrl}/catalog/subscription`, {
      method: 'POST',
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ message: { error: { code: 'AUT_SIGNATURE_MISSING' } } });
  });
});

describe('POST /catalog/subscription?subscriptionId', () => {
  const update = (subscriptionId: string, subscription: object, actor = ds) =>
    actor.send(subscribe, { subscription }, { query: { subscriptionId } });

  it('sets what is given and keeps the rest', async () => {
    const first = await create({ networkIds: ['a.org/net'], schemaTypes: [chargers] });
    const { body } = await update(first.subscriptionId, { networkIds: ['b.org/net'] });
    const [updated] = body.message.subscriptions;
    expect(updated).toEqual({ ...first, networkIds: ['b.org/net'], updatedAt: expect.any(String) });
    expect(Date.parse(updated.updatedAt)).toBeGreaterThanOrEqual(Date.parse(first.updatedAt));
  });

  it('reactivates an INACTIVE one', async () => {
    const { subscriptionId } = await create({ networkIds: ['a.org/net'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId } });
    const { status, body } = await update(subscriptionId, { networkIds: ['a.org/net'] });
    expect(status).toBe(200);
    expect(body.message.subscriptions[0]).toMatchObject({ subscriptionId, status: 'ACTIVE' });
  });

  it('is refused with 404 CTX_INVALID_FIELD for an unknown id', async () => {
    const { status, body } = await update(randomUUID(), { networkIds: [] });
    expect([status, body.message.error.code]).toEqual([404, 'CTX_INVALID_FIELD']);
  });

  it("is refused with 403 AUT_UNAUTHORIZED_ACTION for somebody else's", async () => {
    const { subscriptionId } = await create({ networkIds: ['a.org/net'] }, other);
    const { status, body } = await update(subscriptionId, { networkIds: [] });
    expect([status, body.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
  });

  it('is refused with CTX_INVALID_FIELD for an id that is no UUID', async () => {
    const { status, body } = await update('42', { networkIds: [] });
    expect([status, body.message.error.code]).toEqual([400, 'CTX_INVALID_FIELD']);
  });
});

describe('GET /catalog/subscription', () => {
  const list = (query?: Record<string, string>, actor = ds) =>
    actor.send(listSubscriptions, undefined, query && { query });

  it("lists the caller's own subscriptions of every status, oldest first, in the same envelope with pagination", async () => {
    const made = [await create({ networkIds: ['1.org/n'] }), await create({ networkIds: ['2.org/n'] })];
    await create({ networkIds: ['3.org/n'] }, other);
    await ds.send(unsubscribe, undefined, { query: { subscriptionId: made[0].subscriptionId } });
    const { status, body, answerSigned } = await list();
    expect(status).toBe(200);
    expect(answerSigned).toBe(true);
    expect(body.context).toEqual({
      version: '2.0.0',
      action: 'catalog/on_subscription',
      messageId: expect.any(String),
      transactionId: expect.any(String),
      timestamp: expect.any(String),
    });
    expect(body.message.pagination).toEqual({ total: 2, limit: 20, offset: 0 });
    expect(body.message.subscriptions.map((one: { networkIds: string[] }) => one.networkIds[0])).toEqual([
      '1.org/n',
      '2.org/n',
    ]);
  });

  it('selects by status', async () => {
    const first = await create({ networkIds: ['1.org/n'] });
    const second = await create({ networkIds: ['2.org/n'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId: first.subscriptionId } });
    const ids = async (status: string) =>
      (await list({ status })).body.message.subscriptions.map(
        (one: { subscriptionId: string }) => one.subscriptionId,
      );
    expect(await ids('ACTIVE')).toEqual([second.subscriptionId]);
    expect(await ids('INACTIVE')).toEqual([first.subscriptionId]);
  });

  it('selects by subscriptionId', async () => {
    const first = await create({ networkIds: ['1.org/n'] });
    await create({ networkIds: ['2.org/n'] });
    const { body } = await list({ subscriptionId: first.subscriptionId });
    expect(body.message).toEqual({ subscriptions: [first], pagination: { total: 1, limit: 20, offset: 0 } });
  });

  it('pages by limit and offset', async () => {
    for (const name of ['1', '2', '3']) await create({ networkIds: [`${name}.org/n`] });
    const { body } = await list({ limit: '2', offset: '1' });
    expect(body.message.pagination).toEqual({ total: 3, limit: 2, offset: 1 });
    expect(body.message.subscriptions).toHaveLength(2);
    const beyond = await list({ offset: '999999999999999' });
    expect(beyond.body.message).toMatchObject({ subscriptions: [], pagination: { total: 3 } });
  });

  it('gives an empty list for an unknown id', async () => {
    const { status, body } = await list({ subscriptionId: randomUUID() });
    expect(status).toBe(200);
    expect(body.message).toEqual({ subscriptions: [], pagination: { total: 0, limit: 20, offset: 0 } });
  });

  it("is refused with 403 AUT_UNAUTHORIZED_ACTION for somebody else's subscription", async () => {
    const { subscriptionId } = await create({ networkIds: ['1.org/n'] }, other);
    const { status, body } = await list({ subscriptionId });
    expect([status, body.message.status, body.message.error.code]).toEqual([
      403,
      'NACK',
      'AUT_UNAUTHORIZED_ACTION',
    ]);
  });

  it.each([
    ['SCH_INVALID_ENUM', { status: 'active' }],
    ['CTX_INVALID_FIELD', { subscriptionId: 'x' }],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '0' }],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: '101' }],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 'many' }],
    ['SCH_SCHEMA_VALIDATION_FAILED', { offset: '-1' }],
  ])('is refused with %s for %o', async (code, query) => {
    const { status, body } = await list(query as Record<string, string>);
    expect([status, body.message.error.code]).toEqual([400, code]);
  });
});

describe('DELETE /catalog/subscription', () => {
  const remove = (query?: Record<string, string>, actor = ds) =>
    actor.send(unsubscribe, undefined, query && { query });

  it('deactivates the subscription, changes updatedAt, and returns it in the same envelope', async () => {
    const made = await create({ networkIds: ['1.org/n'] });
    const { status, body } = await remove({ subscriptionId: made.subscriptionId });
    expect(status).toBe(200);
    expect(body.context.action).toBe('catalog/on_subscription');
    const [removed] = body.message.subscriptions;
    expect(removed).toEqual({ ...made, status: 'INACTIVE', updatedAt: expect.any(String) });
    expect(Date.parse(removed.updatedAt)).toBeGreaterThan(Date.parse(made.updatedAt));
  });

  it('is 200 again for an INACTIVE one, and changes nothing', async () => {
    const { subscriptionId } = await create({ networkIds: ['1.org/n'] });
    const first = await remove({ subscriptionId });
    const again = await remove({ subscriptionId });
    expect(again.status).toBe(200);
    expect(again.body.message).toEqual(first.body.message);
  });

  it('is refused with 404 CTX_INVALID_FIELD for an unknown id', async () => {
    const { status, body } = await remove({ subscriptionId: randomUUID() });
    expect([status, body.message.error.code]).toEqual([404, 'CTX_INVALID_FIELD']);
  });

  it("is refused with 403 AUT_UNAUTHORIZED_ACTION for somebody else's, which stays ACTIVE", async () => {
    const { subscriptionId } = await create({ networkIds: ['1.org/n'] }, other);
    const { status, body } = await remove({ subscriptionId });
    expect([status, body.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
    const { body: listed } = await other.send(listSubscriptions, undefined, { query: { subscriptionId } });
    expect(listed.message.subscriptions[0].status).toBe('ACTIVE');
  });

  it('is refused with SCH_REQUIRED_FIELD_MISSING without an id, with CTX_INVALID_FIELD for one that is no UUID', async () => {
    const without = await remove();
    expect([without.status, without.body.message.error.code]).toEqual([400, 'SCH_REQUIRED_FIELD_MISSING']);
    const wrong = await remove({ subscriptionId: 'mine' });
    expect([wrong.status, wrong.body.message.error.code]).toEqual([400, 'CTX_INVALID_FIELD']);
  });
});
