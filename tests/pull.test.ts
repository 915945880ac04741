import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { downloadUrl } from '../src/catalog/download.ts';
import { silentLogger } from '../src/logger.ts';
import { startProcess } from '../src/main.ts';
import { actions } from '../src/protocol/actions.ts';
import { bodyDigest } from '../src/protocol/digest.ts';
import { loadOrCreateSigningKey } from '../src/registry/key-files.ts';
import { findDownload, pieceBytes } from '../src/storage/downloads.ts';
import type { Actor, Body } from './support/actor.ts';
import { freePort } from './support/free-port.ts';
import { startNetwork, type TestNetwork } from './support/network.ts';
import { seedCatalog, seedResources } from './support/seed-catalogs.ts';

// Pull, on_pull and downloads over real HTTP, signatures and a real database (catalog spec: POST /catalog/pull, POST /catalog/on_pull).

const chargers = 'https://schema.example.org/Charger/v1/context.jsonld';
const small = 'small.org/net';
const large = 'large.org/net';

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
  for (const id of ['large-1', 'large-2']) {
    await seedCatalog(database, { id, visibleTo: [large], offers: [{ id: 'o' }] });
    await seedResources(database, id, { count: 2_000, bytes: 600 });
  }
});
afterAll(() => network.close());

async function subscribe(subscription: object, actor = ds): Promise<string> {
  const { body } = await actor.send(actions.subscribe, { subscription });
  return body.message.subscriptions[0].subscriptionId;
}

/** Pulls and waits for the callback. */
async function pull(message: { subscriptionId: string; [member: string]: unknown }): Promise<Body> {
  const { status, messageId } = await ds.send(actions.pull, message);
  expect(status).toBe(200);
  return (await ds.waitFor('catalog/on_pull', messageId)).body.message;
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const idsOf = ({ catalogs }: Body): string[] => catalogs.map(({ id }: { id: string }) => id);

describe('POST /catalog/pull', () => {
  it('is acknowledged with the messageId, signed, and answered on on_pull', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
    const { status, body, messageId, answerSigned } = await ds.send(actions.pull, { subscriptionId });
    expect([status, body]).toEqual([200, { message: { status: 'ACK', messageId } }]);
    expect(answerSigned).toBe(true);
    await ds.waitFor('catalog/on_pull', messageId);
  });

  it('returns the latest version of every matching catalog inline, assembled, with flags and offers, in order of first publication', async () => {
    const message = await pull({ subscriptionId: await subscribe({ networkIds: [small] }), mode: 'FULL' });
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
    const subscriptionId = await subscribe({ networkIds: [small], schemaTypes: [chargers] });
    expect(idsOf(await pull({ subscriptionId }))).toEqual(['third']);
    const nothing = await subscribe({ networkIds: ['nobody.org/net'] });
    const message = await pull({ subscriptionId: nothing });
    expect(message).toEqual({
      status: 'COMPLETED',
      catalogs: [],
      pagination: { total: 0, limit: 20, offset: 0 },
    });
  });

  it('pages by limit and offset, with the total of all pages', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
    const message = await pull({ subscriptionId, limit: 1, offset: 1 });
    expect(idsOf(message)).toEqual(['second']);
    expect(message.pagination).toEqual({ total: 3, limit: 1, offset: 1 });
    const offset = Number.MAX_SAFE_INTEGER;
    expect((await pull({ subscriptionId, offset })).pagination).toEqual({ total: 3, limit: 20, offset });
  });

  it('ignores fromDate and toDate, whatever they hold', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
    const message = await pull({ subscriptionId, fromDate: 'long ago', toDate: { never: true } });
    expect(message.pagination.total).toBe(3);
  });

  it('does the work of the same request once and gives the same answer', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
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
    await delay(300);
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
    const subscriptionId = await subscribe({ networkIds: ['inactive.org/net'] });
    await ds.send(actions.unsubscribe, undefined, { query: { subscriptionId } });
    expect(await refusal({ subscriptionId })).toEqual([400, 'CTX_INVALID_FIELD', '$.message.subscriptionId']);
  });

  it("403 AUT_UNAUTHORIZED_ACTION: somebody else's subscription", async () => {
    const subscriptionId = await subscribe({ networkIds: [small] }, other);
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

  it('CTX_MISSING_FIELD: no bapId or bapUri', async () => {
    const message = { subscriptionId: randomUUID() };
    expect(await refusal(message, { context: { bapId: undefined } })).toEqual([
      400,
      'CTX_MISSING_FIELD',
      '$.context.bapId',
    ]);
    expect((await refusal(message, { context: { bapUri: undefined } }))[1]).toBe('CTX_MISSING_FIELD');
  });

  it("CTX_INVALID_FIELD: a bapUri that is not at the origin of the caller's registry record", async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
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
    const subscriptionId = await subscribe({ networkIds: [small] });
    expect((await ds.send(actions.pull, { subscriptionId }, { context })).status).toBe(200);
    await ds.waitFor('catalog/on_pull', context.messageId);
  });
});

describe('POST /catalog/on_pull', () => {
  it('echoes the context under its own action, bound to the request by digest and signature chain', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
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

  it('is repeated with the same bytes until it is delivered', async () => {
    const subscriptionId = await subscribe({ networkIds: [small] });
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
    const subscriptionId = await subscribe({ networkIds: [small] });
    await network.database.query('alter table catalog.resource rename to resource_elsewhere');
    try {
      const message = await pull({ subscriptionId });
      expect(message).toEqual({
        status: 'FAILED',
        error: { code: 'NET_CATALOG_SOURCE_UNAVAILABLE', message: expect.any(String) },
      });
    } finally {
      await network.database.query('alter table catalog.resource_elsewhere rename to resource');
    }
  });
});

describe('a result above PULL_INLINE_LIMIT', () => {
  let manifest: Body;
  let whole: Buffer;

  beforeAll(async () => {
    const message = await pull({ subscriptionId: await subscribe({ networkIds: [large] }) });
    expect(message).toEqual({
      status: 'COMPLETED',
      downloadManifest: expect.any(Object),
      pagination: { total: 2, limit: 20, offset: 0 },
    });
    manifest = message.downloadManifest;
    whole = await bytesOf(await fetch(manifest.url));
  });

  const get = (headers: Record<string, string> = {}, url = manifest.url, method = 'GET') =>
    fetch(url, { method, headers });

  it('is offered as a json.gz download with url, expiry, size and checksum', () => {
    expect(manifest).toEqual({
      url: expect.stringContaining(`${network.catalogUrl}/downloads/`),
      expiresAt: expect.stringMatching(/Z$/),
      format: 'json.gz',
      sizeBytes: whole.length,
      checksum: `sha256:${createHash('sha256').update(whole).digest('hex')}`,
    });
    const seconds = (Date.parse(manifest.expiresAt) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_601);
  });

  it('holds an object with the catalogs', () => {
    const { catalogs, ...rest } = JSON.parse(gunzipSync(whole).toString('utf8'));
    expect(rest).toEqual({});
    expect(idsOf({ catalogs })).toEqual(['large-1', 'large-2']);
    for (const { resources, offers } of catalogs) {
      expect(new Set(resources.map(({ id }: { id: string }) => id)).size).toBe(2_000);
      expect(offers).toEqual([{ id: 'o' }]);
    }
  });

  it('is fetched without Authorization, as application/gzip with its length', async () => {
    const { status, headers } = await get();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/gzip');
    expect(headers.get('content-encoding')).toBeNull();
    expect(Number(headers.get('content-length'))).toBe(manifest.sizeBytes);
    expect(headers.get('accept-ranges')).toBe('bytes');
  });

  it('answers HEAD with the same headers and no body, also where it asks for a range', async () => {
    const response = await get({ range: 'bytes=0-9' }, manifest.url, 'HEAD');
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBe(manifest.sizeBytes);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  it('serves single ranges with 206, across pieces too', async () => {
    expect(whole.length).toBeGreaterThan(pieceBytes + 100);
    const { length } = whole;
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      [`bytes=${pieceBytes - 5}-${pieceBytes + 4}`, pieceBytes - 5, pieceBytes + 4],
      [`bytes=${pieceBytes}-`, pieceBytes, length - 1],
      ['bytes=-7', length - 7, length - 1],
    ] as const) {
      const response = await get({ range });
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${length}`);
      expect(whole.subarray(start, end + 1).equals(await bytesOf(response))).toBe(true);
    }
  });

  it('resumes with If-Range only what it was', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    expect((await get({ range: 'bytes=10-19', 'if-range': etag })).status).toBe(206);
    const changed = await get({ range: 'bytes=10-19', 'if-range': '"something-else"' });
    expect(changed.status).toBe(200);
    expect((await changed.arrayBuffer()).byteLength).toBe(whole.length);
  });

  it('answers 416 to a range beyond its end', async () => {
    const { status, headers } = await get({ range: `bytes=${whole.length}-` });
    expect([status, headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  });

  it('answers 403 to an address that was tampered with', async () => {
    const url = new URL(manifest.url);
    url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1));
    expect((await get({}, url.href)).status).toBe(403);
    expect((await get({}, manifest.url.replace(/signature=.*/, ''))).status).toBe(403);
    expect((await get({}, `${network.catalogUrl}/downloads/${randomUUID()}`)).status).toBe(403);
  });

  it('answers 410 after it has expired, and 404 where there is none', async () => {
    const { config } = network;
    const self = loadOrCreateSigningKey(config.DATA_DIR, config.identities.catalog);
    const address = (id: string, expiresAt: Date) =>
      downloadUrl({ url: network.catalogUrl, self }, { id, expiresAt, sizeBytes: 0, checksum: '' });
    const { pathname } = new URL(manifest.url);
    const id = pathname.slice('/downloads/'.length);
    expect((await get({}, address(id, new Date(Date.now() - 1_000)))).status).toBe(410);
    expect((await get({}, address(randomUUID(), new Date(Date.now() + 60_000)))).status).toBe(404);
  });

  it('is served by any process of the service', async () => {
    const port = await freePort();
    const second = await startProcess(
      { ...network.config, roles: ['catalog'], CATALOG_PORT: port },
      { logger: silentLogger() },
    );
    try {
      const url = Object.assign(new URL(manifest.url), { port: String(port) });
      expect(whole.equals(await bytesOf(await fetch(url)))).toBe(true);
    } finally {
      await second.close();
    }
  });

  it('is not announced beyond its expiry', async () => {
    const { pathname } = new URL(manifest.url);
    const download = await findDownload(network.database, pathname.slice('/downloads/'.length));
    const { rows } = await network.database.query<{ give_up_at: Date }>(
      'select give_up_at from work.callback where give_up_at = $1',
      [download?.expiresAt],
    );
    expect(rows).toHaveLength(1);
  });
});
