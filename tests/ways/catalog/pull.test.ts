import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { maxDownloadBytes, maxOpenPulls } from '../../../src/catalog/pull.ts';
import { actions } from '../../../src/protocol/actions.ts';
import { bodyDigest } from '../../../src/protocol/digest.ts';
import { identityOf } from '../../../src/protocol/identity.ts';
import { seedCatalog } from '../../support/catalogs/seed-catalogs.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { pull, subscribe } from '../../support/network/subscriptions.ts';
import { watchFor } from '../../support/time.ts';

// Pull and on_pull over real HTTP, signatures and a real database (catalog spec: POST /catalog/pull, POST /catalog/on_pull). Longer than our
// other tests: a case for each filter and each refusal.

const chargers = 'https://schema.example.org/Charger/v1/context.jsonld';
const small = 'small.org/net';

let network: TestNetwork;
let ds: Actor;
let other: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { PULL_INLINE_LIMIT: '100kb' } });
  ds = await network.actor('ds');
  other = await network.actor('other-ds');
  const { database } = network;
  const attributes = { '@context': chargers, '@type': 'Charger' };
  await seedCatalog(database, {
    id: 'first',
    visibleTo: [small],
    isActive: false,
    resources: [{ id: 'r1', descriptor: { name: 'own' } }],
    assembled: { r1: { id: 'r1', descriptor: { name: 'assembled' } } },
    offers: [{ id: 'o1' }],
  });
  await seedCatalog(database, {
    id: 'second',
    visibleTo: [small],
    type: 'MASTER',
    resources: [{ id: 'm1' }],
  });
  await seedCatalog(database, {
    id: 'third',
    visibleTo: [small],
    resources: [{ id: 'c1', resourceAttributes: attributes }],
  });
});
afterAll(() => network.close());

const idsOf = ({ catalogs }: Body): string[] => catalogs.map(({ id }: { id: string }) => id);

describe('POST /catalog/pull', () => {
  it('is acknowledged with the messageId, signed, and answered on on_pull', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const { status, body, messageId, answerSigned } = await ds.send(actions.pull, { subscriptionId });
    expect([status, body]).toEqual([200, { message: { status: 'ACK', messageId } }]);
    expect(answerSigned).toBe(true);
    await ds.waitFor('catalog/on_pull', messageId);
  });

  it('returns the latest version of every matching catalog inline, assembled, with flags and offers, in order of first publication', async () => {
    const message = await pull(ds, {
      subscriptionId: await subscribe(ds, { networkIds: [small] }),
      mode: 'FULL',
    });
    expect(message.status).toBe('COMPLETED');
    expect(message).not.toHaveProperty('downloadManifest');
    expect(message).not.toHaveProperty('error');
    expect(message.pagination).toEqual({ total: 3, limit: 20, offset: 0 });
    expect(idsOf(message)).toEqual(['first', 'second', 'third']);
    expect(message.catalogs[0]).toMatchObject({
      isActive: false,
      resources: [{ id: 'r1', descriptor: { name: 'assembled' } }],
      offers: [{ id: 'o1' }],
    });
  });

  it("is determined by the subscription's networks and schema types", async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small], schemaTypes: [chargers] });
    expect(idsOf(await pull(ds, { subscriptionId }))).toEqual(['third']);
    const nothing = await subscribe(ds, { networkIds: ['nobody.org/net'] });
    const message = await pull(ds, { subscriptionId: nothing });
    expect(message).toEqual({
      status: 'COMPLETED',
      catalogs: [],
      pagination: { total: 0, limit: 20, offset: 0 },
    });
  });

  it('pages by limit and offset, with the total of all pages', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const message = await pull(ds, { subscriptionId, limit: 1, offset: 1 });
    expect(idsOf(message)).toEqual(['second']);
    expect(message.pagination).toEqual({ total: 3, limit: 1, offset: 1 });
    const offset = Number.MAX_SAFE_INTEGER;
    expect((await pull(ds, { subscriptionId, offset })).pagination).toEqual({ total: 3, limit: 20, offset });
  });

  it('ignores fromDate and toDate, whatever they hold', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const message = await pull(ds, { subscriptionId, fromDate: 'long ago', toDate: { never: true } });
    expect(message.pagination.total).toBe(3);
  });

  it('does the work of the same request once and gives the same answer', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const context = { messageId: randomUUID(), transactionId: 't', timestamp: new Date().toISOString() };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ds.send(actions.pull, { subscriptionId }, { context })),
    );
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([200, { message: { status: 'ACK', messageId: context.messageId } }]);
    }
    await ds.waitFor('catalog/on_pull', context.messageId);
    const again = await ds.send(actions.pull, { subscriptionId }, { context });
    expect(again.status).toBe(200);
    await watchFor(300);
    expect(ds.received.filter(({ body }) => body.context.messageId === context.messageId)).toHaveLength(1);
    const { rowCount } = await network.database.query('select from catalog.pull');
    expect(rowCount).toBe(0);
  });
});

describe('POST /catalog/pull refuses', () => {
  async function refusal(
    message: object,
    options: { actor?: Actor; context?: Record<string, unknown> } = {},
  ) {
    const { actor = ds, context } = options;
    const { status, body, messageId } = await actor.send(actions.pull, message, { context });
    expect(body.message).toMatchObject({ status: 'NACK', messageId });
    const { code, details } = body.message.error;
    return [status, code, details?.path];
  }

  it('NET_NOT_IMPLEMENTED: mode INCREMENTAL, before the subscription is looked up', async () => {
    const message = { subscriptionId: randomUUID(), mode: 'INCREMENTAL', fromDate: '2026-01-01T00:00:00Z' };
    expect(await refusal(message)).toEqual([400, 'NET_NOT_IMPLEMENTED', '$.message.mode']);
  });

  it('SCH_REQUIRED_FIELD_MISSING: no subscriptionId', async () => {
    expect(await refusal({})).toEqual([400, 'SCH_REQUIRED_FIELD_MISSING', '$.message.subscriptionId']);
  });

  it('CTX_INVALID_FIELD: a subscriptionId that is no UUID', async () => {
    expect(await refusal({ subscriptionId: 'x' })).toEqual([
      400,
      'CTX_INVALID_FIELD',
      '$.message.subscriptionId',
    ]);
  });

  it('404 CTX_INVALID_FIELD: an unknown subscription', async () => {
    const answer = await refusal({ subscriptionId: randomUUID() });
    expect(answer).toEqual([404, 'CTX_INVALID_FIELD', '$.message.subscriptionId']);
  });

  it('400 CTX_INVALID_FIELD: an INACTIVE subscription', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: ['inactive.org/net'] });
    await ds.send(actions.unsubscribe, undefined, { query: { subscriptionId } });
    expect(await refusal({ subscriptionId })).toEqual([400, 'CTX_INVALID_FIELD', '$.message.subscriptionId']);
  });

  it("403 AUT_UNAUTHORIZED_ACTION: somebody else's subscription", async () => {
    const subscriptionId = await subscribe(other, { networkIds: [small] });
    const answer = await refusal({ subscriptionId });
    expect(answer).toEqual([403, 'AUT_UNAUTHORIZED_ACTION', '$.message.subscriptionId']);
  });

  it('SCH_INVALID_ENUM, SCH_FIELD_NOT_ALLOWED, SCH_SCHEMA_VALIDATION_FAILED: a bad message', async () => {
    const subscriptionId = randomUUID();
    const codeOf = async (message: object) => (await refusal({ subscriptionId, ...message }))[1];
    expect(await codeOf({ mode: 'PARTIAL' })).toBe('SCH_INVALID_ENUM');
    expect(await codeOf({ page: 1 })).toBe('SCH_FIELD_NOT_ALLOWED');
    for (const page of [{ limit: 0 }, { limit: 101 }, { limit: '5' }, { offset: -1 }]) {
      expect(await codeOf(page)).toBe('SCH_SCHEMA_VALIDATION_FAILED');
    }
  });

  it("CTX_INVALID_FIELD: a bapUri that is not at the origin of the caller's registry record", async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const answer = await refusal({ subscriptionId }, { context: { bapUri: other.url } });
    expect(answer).toEqual([400, 'CTX_INVALID_FIELD', '$.context.bapUri']);
  });

  it('AUT_UNAUTHORIZED_ACTION: a bapId that is not the signer', async () => {
    const answer = await refusal({ subscriptionId: randomUUID() }, { context: { bapId: other.id } });
    expect(answer).toEqual([403, 'AUT_UNAUTHORIZED_ACTION', '$.context.bapId']);
  });

  it('AUT_SIGNATURE_INVALID: a key that is not the caller’s', async () => {
    const key = { ...other.key, subscriberId: ds.id };
    const { status, body } = await ds.send(actions.pull, { subscriptionId: randomUUID() }, { key });
    expect([status, body.message.error.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
  });

  it('nothing of it is remembered: the same messageId may come again', async () => {
    const context = { messageId: randomUUID() };
    await refusal({ subscriptionId: randomUUID() }, { context });
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    expect((await ds.send(actions.pull, { subscriptionId }, { context })).status).toBe(200);
    await ds.waitFor('catalog/on_pull', context.messageId);
  });
});

describe('pulls of one owner', () => {
  /** Pulls of `ds` in this state that are never processed. */
  async function hold(count: number, state: string): Promise<void> {
    await network.database.query(
      `insert into catalog.pull (owner, subscription_id, page_limit, page_offset, context, digest, request_signature,
         callback_url, lease_token, due_at, leased_until)
       select $1, gen_random_uuid(), 10, 0, '{}', '', '', '', gen_random_uuid(), ${state}, ${state}
       from generate_series(1, $2::integer)`,
      [identityOf(ds.id, network.config.REGISTRY_NAME), count],
    );
  }
  afterEach(async () => {
    await network.database.query("delete from catalog.pull where context::text = '{}'");
  });

  it('NET_OVERLOADED: are refused with Retry-After when too many of them wait, and those of others are not', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    await hold(maxOpenPulls, 'null::timestamptz');
    const { status, headers, body } = await ds.send(actions.pull, { subscriptionId });
    expect([status, body.message.error.code]).toEqual([503, 'NET_OVERLOADED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      await pull(other, { subscriptionId: await subscribe(other, { networkIds: [small] }) }),
    ).toMatchObject({
      status: 'COMPLETED',
    });
  });

  it('NET_OVERLOADED: are refused with Retry-After while its downloads fill its share, and those of others are not', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const { rows } = await network.database.query<{ id: string }>(
      `insert into catalog.download (id, owner, expires_at, size_bytes, checksum)
       select gen_random_uuid(), $1, now() + interval '1 hour', $2, '' from generate_series(1, 2) returning id`,
      [identityOf(ds.id, network.config.REGISTRY_NAME), maxDownloadBytes / 2],
    );
    const { status, headers, body } = await ds.send(actions.pull, { subscriptionId });
    expect([status, body.message.error.code]).toEqual([503, 'NET_OVERLOADED']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      await pull(other, { subscriptionId: await subscribe(other, { networkIds: [small] }) }),
    ).toMatchObject({ status: 'COMPLETED' });
    await network.database.query('delete from catalog.download where id = $1', [rows[0]?.id]);
    expect(await pull(ds, { subscriptionId })).toMatchObject({ status: 'COMPLETED' });
  });

  it('are answered one at a time, and those of others meanwhile', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    await hold(1, "now() + interval '25 s'");
    const { status, messageId } = await ds.send(actions.pull, { subscriptionId });
    expect(status).toBe(200);
    for (let count = 0; count < 3; count += 1)
      await pull(other, { subscriptionId: await subscribe(other, { networkIds: [small] }) });
    expect(ds.received.filter(({ body }) => body.context.messageId === messageId)).toEqual([]);
    await network.database.query("delete from catalog.pull where context::text = '{}'");
    await ds.waitFor('catalog/on_pull', messageId);
  });
});

describe('POST /catalog/on_pull', () => {
  it('echoes the context under its own action, bound to the request by digest and signature chain', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    const context = {
      version: '2.0.0',
      action: 'catalog/pull',
      messageId: randomUUID(),
      transactionId: randomUUID(),
      timestamp: new Date().toISOString(),
      bapId: ds.id,
      bapUri: ds.url,
      networkId: small,
      ours: { kept: true },
    };
    const raw = Buffer.from(JSON.stringify({ context, message: { subscriptionId } }, null, 1));
    await ds.send(actions.pull, undefined, { raw, context: { messageId: context.messageId } });
    const received = await ds.waitFor('catalog/on_pull', context.messageId);
    expect(received.path).toBe('/catalog/on_pull');
    expect(received.chained).toBe(true);
    expect(received.signer).toBe(network.config.identities.catalog.id);
    expect(received.body.context).toEqual({
      ...context,
      action: 'catalog/on_pull',
      timestamp: expect.any(String),
      requestDigest: { digest: bodyDigest(raw) },
    });
  });

  it.each([
    ['one network', [small], small],
    ['two networks', [small, 'other.org/net'], undefined],
    ['every network', [], undefined],
  ])('names the network of a subscription to %s in its context', async (_what, networkIds, networkId) => {
    const subscriptionId = await subscribe(ds, { networkIds, schemaTypes: [chargers] });
    const { messageId } = await ds.send(actions.pull, { subscriptionId });
    const { body } = await ds.waitFor('catalog/on_pull', messageId);
    expect(body.context.networkId).toBe(networkId);
  });

  it('is repeated with the same bytes until it is delivered', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    let refusals = 2;
    const seen: Buffer[] = [];
    ds.behave(({ action, raw }) => {
      if (action !== 'catalog/on_pull') return undefined;
      seen.push(raw);
      refusals -= 1;
      return refusals >= 0 ? { status: 503 } : undefined;
    });
    const { messageId } = await ds.send(actions.pull, { subscriptionId });
    await ds.waitFor(
      'catalog/on_pull',
      ({ body }) => body.context.messageId === messageId && seen.length === 3,
    );
    ds.behave(() => undefined);
    expect(new Set(seen.map((raw) => raw.toString('base64'))).size).toBe(1);
  });

  it('is FAILED with NET_CATALOG_SOURCE_UNAVAILABLE, without catalogs or manifest, when the catalogs cannot be read', async () => {
    const subscriptionId = await subscribe(ds, { networkIds: [small] });
    await network.database.query('alter table catalog.resource rename to resource_elsewhere');
    try {
      const { messageId } = await ds.send(actions.pull, { subscriptionId });
      const { context, message } = (await ds.waitFor('catalog/on_pull', messageId)).body;
      expect(context).toMatchObject({ action: 'catalog/on_pull', networkId: small });
      expect(message).toEqual({
        status: 'FAILED',
        messageId,
        error: { code: 'NET_CATALOG_SOURCE_UNAVAILABLE', message: expect.any(String) },
      });
    } finally {
      await network.database.query('alter table catalog.resource_elsewhere rename to resource');
    }
  });
});
