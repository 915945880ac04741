import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxActive } from '../../../src/catalog/subscription.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { createSubscription } from '../../support/network/subscriptions.ts';

// Making and changing subscriptions over real HTTP and signatures (catalog spec: POST /catalog/subscription).

const { subscribe, unsubscribe } = actions;
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
    expect(await createSubscription(ds, { networkIds: ['a.org/net'] })).toMatchObject({
      networkIds: ['a.org/net'],
      schemaTypes: [],
    });
    expect(await createSubscription(ds, { schemaTypes: [chargers] })).toMatchObject({
      networkIds: [],
      schemaTypes: [chargers],
    });
  });

  it('returns the identical ACTIVE subscription of the same owner instead of a second one', async () => {
    const first = await createSubscription(ds, { networkIds: ['a.org/net', 'b.org/net'], schemaTypes: [] });
    const again = await createSubscription(ds, { networkIds: ['b.org/net', 'a.org/net', 'a.org/net'] });
    expect(again).toEqual(first);
    expect(await count()).toBe(1);
    expect((await createSubscription(ds, { networkIds: ['a.org/net'] })).subscriptionId).not.toBe(
      first.subscriptionId,
    );
    expect(
      (await createSubscription(other, { networkIds: ['a.org/net', 'b.org/net'] })).subscriptionId,
    ).not.toBe(first.subscriptionId);
  });

  it('makes a new one beside an INACTIVE one', async () => {
    const first = await createSubscription(ds, { networkIds: ['a.org/net'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId: first.subscriptionId } });
    expect((await createSubscription(ds, { networkIds: ['a.org/net'] })).subscriptionId).not.toBe(
      first.subscriptionId,
    );
  });

  it('makes one of many identical creations at the same moment', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, () => createSubscription(ds, { networkIds: ['a.org/net'] })),
    );
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
    const { subscriptionId } = await createSubscription(ds, { networkIds: ['first.org/net'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId } });
    await network.database.query(
      `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
       select gen_random_uuid(), owner, 'ACTIVE', array[number || '.org/net'], '{}', now(), now()
       from catalog.subscription cross join generate_series(1, $1::integer) as number`,
      [maxActive.count],
    );
    const message = { subscription: { networkIds: ['one-more.org/net'] } };
    for (const query of [undefined, { subscriptionId }]) {
      const { status, body } = await ds.send(subscribe, message, { query });
      expect([status, body.message.error.code]).toEqual([403, 'POL_NP_CAPACITY_EXCEEDED']);
    }
    expect(await createSubscription(ds, { networkIds: ['1.org/net'] })).toMatchObject({ status: 'ACTIVE' });
    expect(await createSubscription(other, { networkIds: ['one-more.org/net'] })).toMatchObject({
      status: 'ACTIVE',
    });
    expect(await count()).toBe(maxActive.count + 2);
  });

  it('POL_NP_CAPACITY_EXCEEDED: more names than all ACTIVE subscriptions of a caller may have together', async () => {
    const most = Array.from({ length: 1_000 }, (_, number) => `${number}.org/net`);
    const half = { networkIds: most, schemaTypes: most };
    const created: string[] = [];
    for (let count = 0; count < maxActive.names / 2_000; count += 1) {
      const networkIds = [...most.slice(1), `other-${count}.org/net`];
      created.push((await createSubscription(ds, { ...half, networkIds })).subscriptionId);
    }
    const [first = ''] = created;
    const oneMore = { subscription: { networkIds: ['one-more.org/net'] } };
    const refused = await ds.send(subscribe, oneMore);
    expect([refused.status, refused.body.message.error.code]).toEqual([403, 'POL_NP_CAPACITY_EXCEEDED']);
    expect(await count()).toBe(created.length);
    // Networks that are no longer named free their places.
    const narrowed = await ds.send(subscribe, oneMore, { query: { subscriptionId: first } });
    expect(narrowed.status).toBe(200);
    expect(await createSubscription(ds, { networkIds: ['two-more.org/net'] })).toMatchObject({
      status: 'ACTIVE',
    });
    const long = { networkIds: [], schemaTypes: [`https://${'x'.repeat(maxActive.characters)}.org/`] };
    const { status, body } = await other.send(subscribe, { subscription: long });
    expect([status, body.message.error.code]).toEqual([403, 'POL_NP_CAPACITY_EXCEEDED']);
    expect(await createSubscription(other, { networkIds: ['one-more.org/net'] })).toMatchObject({
      status: 'ACTIVE',
    });
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
    const first = await createSubscription(ds, { networkIds: ['a.org/net'], schemaTypes: [chargers] });
    const { body } = await update(first.subscriptionId, { networkIds: ['b.org/net'] });
    const [updated] = body.message.subscriptions;
    expect(updated).toEqual({ ...first, networkIds: ['b.org/net'], updatedAt: expect.any(String) });
    expect(Date.parse(updated.updatedAt)).toBeGreaterThanOrEqual(Date.parse(first.updatedAt));
  });

  it('reactivates an INACTIVE one', async () => {
    const { subscriptionId } = await createSubscription(ds, { networkIds: ['a.org/net'] });
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
    const { subscriptionId } = await createSubscription(other, { networkIds: ['a.org/net'] });
    const { status, body } = await update(subscriptionId, { networkIds: [] });
    expect([status, body.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
  });

  it('is refused with CTX_INVALID_FIELD for an id that is no UUID', async () => {
    const { status, body } = await update('42', { networkIds: [] });
    expect([status, body.message.error.code]).toEqual([400, 'CTX_INVALID_FIELD']);
  });
});
