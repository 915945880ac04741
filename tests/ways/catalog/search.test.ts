import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { seedCatalog, seedResources } from '../../support/catalogs/seed-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';

// Search over real HTTP, signatures and a real database (catalog spec: POST /catalog/search).

const chargers = 'https://schema.example.org/Charger/v1/context.jsonld';
const prices = 'https://schema.example.org/Price/v1/context.jsonld';
const charger = (id: string) => ({
  id,
  resourceAttributes: { '@context': chargers, '@type': 'Charger', power: 60 },
});

let network: TestNetwork;
let caller: Actor;

beforeAll(async () => {
  network = await startNetwork();
  caller = await network.actor('caller');
  const { database } = network;
  await seedCatalog(database, { id: 'master-1', type: 'MASTER', resources: [charger('template-1')] });
  await seedCatalog(database, {
    id: 'master-2',
    type: 'MASTER',
    visibleTo: ['b.org/net'],
    resources: [{ id: 't2' }],
  });
  await seedCatalog(database, {
    id: 'regular-1',
    visibleTo: ['a.org/net', 'b.org/net'],
    isActive: false,
    validity: { endDate: '2020-01-01' },
    resources: [{ id: 'r1', descriptor: { name: 'own' } }, charger('r2')],
    assembled: { r1: { id: 'r1', descriptor: { name: 'assembled' } } },
    offers: [
      {
        id: 'o1',
        considerations: [
          { id: 'c1', considerationAttributes: { '@context': prices, '@type': 'Price', value: 1 } },
        ],
      },
    ],
  });
  await seedCatalog(database, { id: 'regular-2', resources: [], offers: [{ id: 'o2' }] });
  await seedCatalog(database, { id: 'regular-3', resources: [{ id: 'r3' }] });
});
afterAll(() => network.close());

async function search(message: object) {
  const exchange = await caller.send(actions.search, message);
  expect(exchange.status).toBe(200);
  return exchange.body.message;
}

async function idsOf(message: object): Promise<string[]> {
  return (await search(message)).catalogs.map(({ id }: { id: string }) => id);
}

describe('POST /catalog/search', () => {
  it('answers on_search at once, signed, echoing the context, with catalogs and pagination', async () => {
    const context = { messageId: 'm', transactionId: 't', timestamp: new Date().toISOString() };
    const { status, body, answerSigned } = await caller.send(actions.search, {}, { context });
    expect(status).toBe(200);
    expect(answerSigned).toBe(true);
    expect(body.context).toEqual({ version: '2.0.0', action: 'catalog/on_search', ...context });
    expect(body.message.pagination).toEqual({ total: 2, limit: 20, offset: 0 });
  });

  it('needs no bapId: any authenticated caller may search', async () => {
    const { status } = await caller.send(
      actions.search,
      {},
      { context: { bapId: undefined, bapUri: undefined } },
    );
    expect(status).toBe(200);
  });

  it('finds MASTER catalogs unless asked otherwise', async () => {
    expect(await idsOf({})).toEqual(['master-1', 'master-2']);
    expect(await idsOf({ filters: { type: 'MASTER' } })).toEqual(['master-1', 'master-2']);
    expect(await idsOf({ filters: { type: 'REGULAR' } })).toEqual(['regular-1', 'regular-2', 'regular-3']);
  });

  it('filters by networks, exactly; omitted or empty means all', async () => {
    const of = (networkIds: string[]) => idsOf({ filters: { type: 'REGULAR', networkIds } });
    expect(await of(['a.org/net'])).toEqual(['regular-1']);
    expect(await of(['A.org/net', 'org/net'])).toEqual([]);
    expect(await of(['b.org/net', 'nfh.global/beckn-nodes'])).toEqual([
      'regular-1',
      'regular-2',
      'regular-3',
    ]);
    expect(await of([])).toHaveLength(3);
  });

  it('filters by schema types of resources, offers and considerations, exactly, with or without #Type', async () => {
    const of = (...schemaTypes: string[]) => idsOf({ filters: { type: 'REGULAR', schemaTypes } });
    expect(await of(chargers)).toEqual(['regular-1']);
    expect(await of(`${chargers}#Charger`)).toEqual(['regular-1']);
    expect(await of(`${chargers}#Other`)).toEqual([]);
    expect(await of(prices)).toEqual(['regular-1']);
    expect(await of('https://schema.example.org/Charger/v1/context')).toEqual([]);
    expect(await of()).toHaveLength(3);
  });

  it('combines filters', async () => {
    const filters = { type: 'REGULAR', networkIds: ['nfh.global/beckn-nodes'], schemaTypes: [chargers] };
    expect(await idsOf({ filters })).toEqual([]);
  });

  it('shows id, descriptor, provider, resources as assembled, offers and flags, also of what is inactive or over', async () => {
    const { catalogs } = await search({ filters: { type: 'REGULAR' }, limit: 1 });
    expect(catalogs).toEqual([
      {
        id: 'regular-1',
        descriptor: { name: 'Catalog regular-1' },
        provider: { id: 'p1', descriptor: { name: 'Provider' } },
        bppId: 'provider.signpost.test/subscribers.beckn.one',
        bppUri: 'https://bpp.example.org',
        isActive: false,
        validity: { endDate: '2020-01-01' },
        resources: [{ id: 'r1', descriptor: { name: 'assembled' } }, charger('r2')],
        offers: [expect.objectContaining({ id: 'o1' })],
      },
    ]);
  });

  it('shows an offer-only catalog without resources', async () => {
    const { catalogs } = await search({ filters: { type: 'REGULAR' }, limit: 1, offset: 1 });
    expect(catalogs[0]).toMatchObject({ id: 'regular-2', offers: [{ id: 'o2' }] });
    expect(catalogs[0]).not.toHaveProperty('resources');
  });

  it('pages in the order of first publication, with the total of all pages', async () => {
    const filters = { type: 'REGULAR' };
    const page = await search({ filters, limit: 2, offset: 1 });
    expect(page.catalogs.map(({ id }: { id: string }) => id)).toEqual(['regular-2', 'regular-3']);
    expect(page.pagination).toEqual({ total: 3, limit: 2, offset: 1 });
    const beyond = await search({ filters, offset: Number.MAX_SAFE_INTEGER });
    expect(beyond).toEqual({
      catalogs: [],
      pagination: { total: 3, limit: 20, offset: Number.MAX_SAFE_INTEGER },
    });
  });

  it('answers with many megabytes, signed and whole', async () => {
    await seedCatalog(network.database, { id: 'large', visibleTo: ['large.org/net'] });
    await seedResources(network.database, 'large', { count: 5_000, bytes: 800 });
    const message = { filters: { type: 'REGULAR', networkIds: ['large.org/net'] } };
    const { body, headers, answerSigned } = await caller.send(actions.search, message);
    expect(Number(headers.get('content-length'))).toBeGreaterThan(4_000_000);
    expect(answerSigned).toBe(true);
    const ids = body.message.catalogs[0].resources.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(5_000);
  });
});

describe('POST /catalog/search refuses', () => {
  it.each([
    ['SCH_INVALID_ENUM', { filters: { type: 'OTHER' } }, '$.message.filters.type'],
    ['SCH_FIELD_NOT_ALLOWED', { filters: { kind: 'MASTER' } }, '$.message.filters.kind'],
    ['SCH_FIELD_NOT_ALLOWED', { text: 'x' }, '$.message.text'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { filters: { networkIds: 'a' } }, '$.message.filters.networkIds'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 0 }, '$.message.limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 101 }, '$.message.limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { limit: 1.5 }, '$.message.limit'],
    ['SCH_SCHEMA_VALIDATION_FAILED', { offset: -1 }, '$.message.offset'],
  ])('%s: %j', async (code, message, path) => {
    const { status, body } = await caller.send(actions.search, message);
    expect(status).toBe(400);
    expect(body.message).toMatchObject({ status: 'NACK', error: { code, details: { path } } });
  });

  it('CTX_ACTION_MISMATCH, CTX_VERSION_UNSUPPORTED, CTX_TTL_EXPIRED, CTX_MISSING_FIELD, CTX_INVALID_FIELD: bad contexts', async () => {
    const codeOf = async (context: object) =>
      (await caller.send(actions.search, {}, { context: context as Record<string, unknown> })).body.message
        .error.code;
    expect(await codeOf({ action: 'catalog/publish' })).toBe('CTX_ACTION_MISMATCH');
    expect(await codeOf({ version: '1.0.0' })).toBe('CTX_VERSION_UNSUPPORTED');
    expect(await codeOf({ timestamp: '2020-01-01T00:00:00Z', ttl: 'PT1S' })).toBe('CTX_TTL_EXPIRED');
    expect(await codeOf({ transactionId: undefined })).toBe('CTX_MISSING_FIELD');
    expect(await codeOf({ timestamp: 'today' })).toBe('CTX_INVALID_FIELD');
  });

  it('SCH_INVALID_JSON: what is not JSON', async () => {
    const { status, body } = await caller.send(actions.search, undefined, { raw: Buffer.from('{') });
    expect([status, body.message.error.code]).toEqual([400, 'SCH_INVALID_JSON']);
  });
});
