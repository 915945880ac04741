import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { maxInactive } from '../../../src/catalog/subscription.ts';
import { actions } from '../../../src/protocol/actions.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { createSubscription } from '../../support/network/subscriptions.ts';

// Listing and ending subscriptions over real HTTP and signatures (catalog spec: GET, DELETE /catalog/subscription).

const { listSubscriptions, unsubscribe } = actions;

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

describe('GET /catalog/subscription', () => {
  const list = (query?: Record<string, string>, actor = ds) =>
    actor.send(listSubscriptions, undefined, query && { query });

  it("lists the caller's own subscriptions of every status, oldest first, in the same envelope with pagination", async () => {
    const made = [
      await createSubscription(ds, { networkIds: ['1.org/n'] }),
      await createSubscription(ds, { networkIds: ['2.org/n'] }),
    ];
    await createSubscription(other, { networkIds: ['3.org/n'] });
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
    const first = await createSubscription(ds, { networkIds: ['1.org/n'] });
    const second = await createSubscription(ds, { networkIds: ['2.org/n'] });
    await ds.send(unsubscribe, undefined, { query: { subscriptionId: first.subscriptionId } });
    const ids = async (status: string) =>
      (await list({ status })).body.message.subscriptions.map(
        (one: { subscriptionId: string }) => one.subscriptionId,
      );
    expect(await ids('ACTIVE')).toEqual([second.subscriptionId]);
    expect(await ids('INACTIVE')).toEqual([first.subscriptionId]);
  });

  it('selects by subscriptionId', async () => {
    const first = await createSubscription(ds, { networkIds: ['1.org/n'] });
    await createSubscription(ds, { networkIds: ['2.org/n'] });
    const { body } = await list({ subscriptionId: first.subscriptionId });
    expect(body.message).toEqual({ subscriptions: [first], pagination: { total: 1, limit: 20, offset: 0 } });
  });

  it('pages by limit and offset', async () => {
    for (const name of ['1', '2', '3']) await createSubscription(ds, { networkIds: [`${name}.org/n`] });
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
    const { subscriptionId } = await createSubscription(other, { networkIds: ['1.org/n'] });
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
    const made = await createSubscription(ds, { networkIds: ['1.org/n'] });
    const { status, body } = await remove({ subscriptionId: made.subscriptionId });
    expect(status).toBe(200);
    expect(body.context.action).toBe('catalog/on_subscription');
    const [removed] = body.message.subscriptions;
    expect(removed).toEqual({ ...made, status: 'INACTIVE', updatedAt: expect.any(String) });
    expect(Date.parse(removed.updatedAt)).toBeGreaterThan(Date.parse(made.updatedAt));
  });

  it('keeps the INACTIVE ones of a caller that were changed last, and forgets older ones', async () => {
    const { subscriptionId } = await createSubscription(ds, { networkIds: ['mine.org/n'] });
    const foreign = await createSubscription(other, { networkIds: ['1.org/n'] });
    expect((await remove({ subscriptionId: foreign.subscriptionId }, other)).status).toBe(200);
    await network.database.query(
      `insert into catalog.subscription (id, owner, status, network_ids, schema_types, created_at, updated_at)
       select gen_random_uuid(), owner, 'INACTIVE', array[number || '.org/n'], '{}', now(), now() - number * interval '1 hour'
       from catalog.subscription cross join generate_series(1, $1::integer) as number where id = $2`,
      [maxInactive, subscriptionId],
    );
    expect((await remove({ subscriptionId })).status).toBe(200);
    const { rows } = await network.database.query<{ id: string; network: string }>(
      "select id, network_ids[1] as network from catalog.subscription where status = 'INACTIVE'",
    );
    expect(rows).toHaveLength(maxInactive + 1);
    expect(rows.map(({ id }) => id)).toEqual(
      expect.arrayContaining([subscriptionId, foreign.subscriptionId]),
    );
    expect(rows.map(({ network }) => network)).not.toContain(`${maxInactive}.org/n`);
  });

  it('is 200 again for an INACTIVE one, and changes nothing', async () => {
    const { subscriptionId } = await createSubscription(ds, { networkIds: ['1.org/n'] });
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
    const { subscriptionId } = await createSubscription(other, { networkIds: ['1.org/n'] });
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
