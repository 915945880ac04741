import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database/database.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import {
  addKey,
  addMembership,
  registerParticipant,
  removeMembership,
  setCatalogIndexUrls,
  setKeyState,
} from '../storage/registry/participants.ts';
import { createRegistryClient } from './client.ts';
import { startRegistryRole } from './role.ts';

// Every address of the role, on one database. Longer than our other tests: one case for each state of a participant, its keys and memberships.

const publicKey = publicKeyOf(privateKeyFromSeed(generateSeed()));
const bpp = { namespace: 'bpp.example.com', registryName: 'subscribers.beckn.one' };

describe('the registry role', () => {
  let home: TestDatabase;
  let database: Database;
  let role: { url: string; close(): Promise<void> };
  let http: GuardedClient;
  let clock: Date;

  beforeAll(async () => {
    home = await createTestDatabase();
    database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
    http = createGuardedClient({ allowPrivateAddresses: false });
    role = await startRegistryRole({
      database,
      logger: silentLogger(),
      metrics: createMetrics({ process: false }),
      host: '127.0.0.1',
      port: 0,
      now: () => clock,
    });
  });
  afterAll(async () => {
    await role.close();
    await http.close();
    await database.close();
    await home.drop();
  });
  beforeEach(async () => {
    clock = new Date('2026-01-01T00:00:00Z');
    await database.query('delete from registry.participant');
    await register('bpp.example.com', { type: 'BPP', url: 'https://bpp.example.com' });
  });

  it('answers a lookup with the record, as DeDi does', async () => {
    await setCatalogIndexUrls(database, bpp, ['https://bpp.example.com/index/catalogs.index.json']);
    const answer = await get('/lookup/bpp.example.com/subscribers.beckn.one/key-1');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      message: 'Record found.',
      data: {
        record_id: 'key-1',
        record_name: 'key-1',
        namespace: 'bpp.example.com',
        registry_name: 'subscribers.beckn.one',
        details: {
          subscriber_id: 'bpp.example.com',
          url: 'https://bpp.example.com',
          type: 'BPP',
          signing_public_key: publicKey,
        },
        meta: { catalog_index_urls: [{ url: 'https://bpp.example.com/index/catalogs.index.json' }] },
        network_memberships: ['example.org/retail'],
        state: 'live',
        version: '2',
        version_count: 2,
        ttl: 300,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  });

  it('shows the countries that a participant serves, in the versions since they were registered', async () => {
    const path = '/lookup/bpp.example.com/subscribers.beckn.one/key-1';
    await register('bpp.example.com', { countries: ['IND', 'NPL'] });
    await register('bpp.example.com', { type: 'BPP' });
    const details = async (query = '') => (await get(`${path}${query}`)).body.data.details;
    expect((await details()).countries).toEqual(['IND', 'NPL']);
    expect(await details('?version_id=1')).not.toHaveProperty('countries');
    expect((await details('?version_id=2')).countries).toEqual(['IND', 'NPL']);
    expect((await get('/versions/bpp.example.com/subscribers.beckn.one/key-1')).body.data.versions).toEqual([
      '2',
      '1',
    ]);
  });

  it.each(['draft', 'suspended', 'revoked', 'expired'] as const)(
    'shows no public key of a record in state %s, for peers that do not read the state; our client calls it unusable',
    async (state) => {
      await setKeyState(database, bpp, state);
      for (const path of [
        '/lookup/bpp.example.com/subscribers.beckn.one/key-1',
        '/query/example.org/retail',
      ]) {
        const { data } = (await get(path)).body;
        const [record] = data.records ?? [data];
        expect(record).toMatchObject({
          record_id: 'key-1',
          state,
          details: { url: 'https://bpp.example.com' },
        });
        expect(record.details).not.toHaveProperty('signing_public_key');
      }
      const registry = createRegistryClient({
        ...{ url: role.url, registryName: bpp.registryName, client: http, logger: silentLogger() },
      });
      expect(await registry.findKey('bpp.example.com', 'key-1')).toEqual({
        kind: 'unusable',
        reason: `the key is in state ${state}`,
      });
      expect(await registry.findSubscriber('bpp.example.com')).toEqual([]);
    },
  );

  it('answers the same at the root', async () => {
    const root = role.url.replace('/dedi', '');
    expect((await get('/lookup/bpp.example.com/subscribers.beckn.one/key-1', {}, root)).status).toBe(200);
    expect((await get('/health', {}, root)).status).toBe(200);
    expect((await get('/ready', {}, root)).status).toBe(200);
  });

  it('describes its routes, each once', async () => {
    const { body } = await get('/openapi.json', {}, role.url.replace('/dedi', ''));
    const levels = ['{namespace}', '{namespace}/{registryName}', '{namespace}/{registryName}/{recordId}'];
    expect(Object.keys(body.paths).sort()).toEqual(
      [
        ...levels.map((level) => `/dedi/lookup/${level}`),
        ...levels.slice(0, 2).map((level) => `/dedi/query/${level}`),
        ...levels.map((level) => `/dedi/versions/${level}`),
      ].sort(),
    );
  });

  it('answers 404 with a code for what is not registered, at every level', async () => {
    const notFound = { status: 404, body: { message: expect.any(String), code: 'NOT_FOUND' } };
    for (const question of ['lookup', 'versions']) {
      for (const path of [
        'bpp.example.com/subscribers.beckn.one/key-9',
        'nobody.example.com/subscribers.beckn.one/key-1',
        'bpp.example.com/subscribers.beckn.one/%00',
        'bpp.example.com/another-registry',
        'nobody.example.com',
      ])
        expect(await get(`/${question}/${path}`)).toMatchObject(notFound);
    }
    expect(await get('/query/nobody.example.com')).toMatchObject(notFound);
    expect(await get('/query/bpp.example.com/%00')).toMatchObject(notFound);
    const { status, body } = await get('/query/example.org/nobody');
    expect([status, body.data.records]).toEqual([200, []]);
  });

  it('answers with a code also where the address leads nowhere or cannot be decoded', async () => {
    for (const [path, status] of [
      ['/nothing/here', 404],
      ['/lookup/bpp.example.com/a/b/c', 404],
      ['/lookup/%ZZ', 400],
      [`/lookup/${'n'.repeat(2_000)}`, 414],
    ] as const)
      expect(await get(path)).toMatchObject({
        ...{ status, body: { message: expect.any(String), code: expect.any(String) } },
      });
  });

  it('answers 500 with a code, and says nothing of its inside, when the database fails', async () => {
    const closed = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 1 });
    await closed.close();
    const broken = await startRegistryRole({
      ...{ database: closed, logger: silentLogger(), metrics: createMetrics({ process: false }) },
      ...{ host: '127.0.0.1', port: 0 },
    });
    try {
      const answer = await get('/lookup/bpp.example.com', {}, broken.url);
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(Object.keys(answer.body)).toEqual(['message', 'code']);
    } finally {
      await broken.close();
    }
  });

  it('answers for a namespace and for a registry, be it of a participant or a network', async () => {
    await register('b.example.com');
    expect((await get('/lookup/bpp.example.com')).body.data).toMatchObject({
      ...{ namespace: 'bpp.example.com', registry_count: 1, version: '1', version_count: 1 },
      ...{ created_at: expect.stringMatching(/Z$/), updated_at: expect.stringMatching(/Z$/), meta: {} },
    });
    expect((await get('/lookup/bpp.example.com/subscribers.beckn.one')).body.data).toMatchObject({
      ...{ namespace: 'bpp.example.com', registry_name: 'subscribers.beckn.one', state: 'live' },
      ...{ record_count: 1, meta: {} },
    });
    expect((await get('/lookup/example.org/retail')).body.data).toMatchObject({
      ...{ namespace: 'example.org', registry_name: 'retail', record_count: 2 },
    });
    await addMembership(database, bpp, 'example.org/energy');
    expect((await get('/query/example.org')).body.data).toMatchObject({
      ...{ namespace: 'example.org', total_registries: 2, total_pages: 1 },
      registries: [
        { registry_name: 'energy', record_count: 1 },
        { registry_name: 'retail', record_count: 2 },
      ],
    });
    expect((await get('/query/example.org?page=2&page_size=1')).body.data).toMatchObject({
      ...{ total_registries: 2, total_pages: 2, page_number: 2 },
      registries: [{ registry_name: 'retail' }],
    });
    for (const path of ['example.org', 'example.org/retail'])
      expect((await get(`/versions/${path}`)).body.data).toMatchObject({
        total_versions: 1,
        versions: ['1'],
      });
  });

  it('lists the versions of a record, the newest first, and looks up each of them', async () => {
    await setCatalogIndexUrls(database, bpp, ['https://bpp.example.com/index/catalogs.index.json']);
    await setKeyState(database, bpp, 'revoked');
    const path = 'bpp.example.com/subscribers.beckn.one/key-1';
    expect((await get(`/versions/${path}`)).body.data).toMatchObject({
      ...{ namespace: 'bpp.example.com', registry_name: 'subscribers.beckn.one', record_name: 'key-1' },
      ...{ total_versions: 3, versions: ['3', '2', '1'] },
    });
    expect((await get(`/versions/${path}?page=2&page_size=2`)).body.data.versions).toEqual(['1']);
    expect((await get(`/lookup/${path}`)).body.data).toMatchObject({ version: '3', state: 'revoked' });
    expect((await get(`/lookup/${path}?version_id=2`)).body.data).toMatchObject({
      ...{ version: '2', version_count: 2, state: 'live' },
      meta: { catalog_index_urls: [{ url: 'https://bpp.example.com/index/catalogs.index.json' }] },
    });
    expect((await get(`/lookup/${path}?version_id=1`)).body.data.meta).toEqual({});
    for (const unknown of ['4', '0', 'not-a-number'])
      expect(await get(`/lookup/${path}?version_id=${unknown}`)).toMatchObject({ status: 404 });
    expect(await get('/lookup/bpp.example.com?version_id=not-a-number')).toMatchObject({ status: 404 });
  });

  it('answers as_on with what was registered at that moment', async () => {
    await setKeyState(database, bpp, 'suspended');
    await removeMembership(database, bpp, 'example.org/retail');
    const path = 'bpp.example.com/subscribers.beckn.one/key-1';
    const version = async (id: string) => (await get(`/lookup/${path}?version_id=${id}`)).body.data;
    const times: string[] = await Promise.all(
      ['1', '2', '3'].map(async (id) => (await version(id)).updated_at),
    );
    expect([...new Set(times)].sort()).toEqual(times);
    for (const [index, time] of times.entries())
      expect((await get(`/lookup/${path}?as_on=${time}`)).body.data.version).toBe(String(index + 1));

    const [first = '', second = '', third = ''] = times;
    const before = new Date(Date.parse(first) - 1).toISOString();
    for (const early of [path, 'bpp.example.com', 'bpp.example.com/subscribers.beckn.one'])
      expect(await get(`/lookup/${early}?as_on=${before}`)).toMatchObject({
        ...{ status: 404, body: { code: 'NOT_FOUND' } },
      });
    const members = async (moment: string) =>
      (await get(`/query/example.org/retail?as_on=${moment}`)).body.data.total_records;
    expect([await members(before), await members(second), await members(third)]).toEqual([0, 1, 0]);
    expect(
      (await get(`/query/bpp.example.com/subscribers.beckn.one?as_on=${second}`)).body.data,
    ).toMatchObject({
      records: [{ state: 'suspended', network_memberships: ['example.org/retail'] }],
    });
    expect((await get(`/query/example.org?as_on=${second}`)).body.data.total_registries).toBe(1);
    expect(await get(`/query/example.org?as_on=${third}`)).toMatchObject({ status: 404 });
    expect((await get(`/lookup/${path}?as_on=${third.slice(0, 10)}`)).body.data.version).toBe('3');
    expect(await get(`/lookup/${path}?as_on=2020-01-01`)).toMatchObject({ status: 404 });
  });

  it('refuses a moment that it cannot read, instead of answering with the present', async () => {
    const path = '/lookup/bpp.example.com/subscribers.beckn.one/key-1';
    const refused = { status: 400, body: { code: 'INVALID_PARAMETER', message: expect.any(String) } };
    for (const query of ['as_on=yesterday', 'as_on=', 'as_on=2026-02-30', 'as_on=2026-01-01&version_id=1'])
      expect(await get(`${path}?${query}`)).toMatchObject(refused);
    expect(await get('/query/example.org/retail?as_on=12')).toMatchObject(refused);
  });

  it('lists only what the filters of a DeDi query leave, and refuses those that it cannot read', async () => {
    await register('old.example.com', { key: { validUntil: new Date('2025-12-31T12:00:00Z') } });
    await register('Cafe.example.com');
    await addKey(database, bpp, { recordId: 'second_key', publicKey });
    await setKeyState(database, bpp, 'revoked', 'key-1');
    const list = async (query: string, path = 'example.org/retail') => {
      const { data } = (await get(`/query/${path}?${query}`)).body;
      const records: { namespace: string; record_name: string }[] = data.records;
      expect(data.total_records).toBe(records.length);
      return records.map(({ namespace, record_name }) => `${namespace} ${record_name}`);
    };
    const second = 'bpp.example.com second_key';
    expect((await list('state=live')).sort()).toEqual(['Cafe.example.com key-1', second].sort());
    expect(await list('state=active&name=COND_')).toEqual([second]);
    expect(await list('state=revoked')).toEqual(['bpp.example.com key-1']);
    expect(await list('state=expired')).toEqual(['old.example.com key-1']);
    expect(await list('state=inactive')).toEqual([]);
    expect(await list('name=%25')).toEqual([]);
    expect(await list('state=&name=&from=&to=&sort=&page=')).toHaveLength(4);
    const states = ['expired', 'live', 'live', 'revoked'];
    for (const sort of ['status', 'state']) {
      const shown = (await get(`/query/example.org/retail?sort=${sort}`)).body.data.records;
      expect(shown.map(({ state }: { state: string }) => state)).toEqual(states);
    }
    const ofBpp = ['bpp.example.com key-1', second];
    expect((await list('sort=name')).slice(-3)).toEqual([...ofBpp, 'old.example.com key-1']);
    expect((await list('sort=id')).slice(-2)).toEqual(['old.example.com key-1', second]);
    const [latest] = await list('sort=date');
    const moment = (await get('/lookup/bpp.example.com/subscribers.beckn.one/key-1')).body.data.updated_at;
    expect(latest).toBe('bpp.example.com key-1');
    expect(await list(`from=${moment}`)).toEqual([latest]);
    expect(await list(`to=${moment}`)).toHaveLength(4);
    expect(await list('to=2020-01-01')).toEqual([]);
    expect(await list(`as_on=${moment}&state=revoked`)).toEqual([latest]);

    const registries = async (query: string) =>
      (await get(`/query/example.org?${query}`)).body.data.total_registries;
    for (const query of ['status=active&sort=date', 'sort=id', 'name=TAIL', 'from=2020-01-01'])
      expect(await registries(query)).toBe(1);
    for (const query of ['status=inactive', 'name=whole', 'to=2020-01-01'])
      expect(await registries(query)).toBe(0);

    const refused = { status: 400, body: { code: 'INVALID_PARAMETER', message: expect.any(String) } };
    for (const query of [
      'state=lively',
      'state=live&state=revoked',
      'from=soon',
      'to=2026-02-30',
      'sort=age',
    ])
      expect(await get(`/query/example.org/retail?${query}`)).toMatchObject(refused);
    expect(await get('/query/example.org/retail?name=%00')).toMatchObject(refused);
    expect(await get('/query/example.org?status=gone')).toMatchObject(refused);
  });

  it('answers 304 while nothing has changed', async () => {
    const path = '/lookup/bpp.example.com/subscribers.beckn.one/key-1';
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect((await get(path, { 'if-none-match': `"other", W/${etag}` })).status).toBe(304);
    await setKeyState(database, bpp, 'revoked');
    expect(await get(path, { 'if-none-match': etag })).toMatchObject({
      status: 200,
      body: { data: { state: 'revoked' } },
    });
  });

  it('shows a key whose time is over as expired', async () => {
    await register('old.example.com', { key: { validUntil: new Date('2026-01-01T12:00:00Z') } });
    const state = async () =>
      (await get('/lookup/old.example.com/subscribers.beckn.one/key-1')).body.data.state;
    expect(await state()).toBe('live');
    clock = new Date('2026-01-01T12:00:01Z');
    expect(await state()).toBe('expired');
  });

  it('lists a participant under its identity and the members of a network under its networkId, page by page', async () => {
    await register('b.example.com');
    await register('c.example.com');
    const names = async (path: string) => {
      const { data } = (await get(path)).body;
      const records: { details: { subscriber_id: string } }[] = data.records;
      return {
        names: records.map(({ details }) => details.subscriber_id),
        total: data.total_records,
        pages: data.total_pages,
      };
    };
    expect(await names('/query/b.example.com/subscribers.beckn.one')).toEqual({
      names: ['b.example.com'],
      total: 1,
      pages: 1,
    });
    const all = ['b.example.com', 'bpp.example.com', 'c.example.com'];
    expect(await names('/query/example.org/retail')).toEqual({ names: all, total: 3, pages: 1 });
    expect(await names('/query/example.org/retail?page=2&page_size=2')).toEqual({
      names: all.slice(2),
      total: 3,
      pages: 2,
    });
    expect(await names('/query/example.org/retail?page=x&page_size=-1')).toEqual({
      names: all,
      total: 3,
      pages: 1,
    });
    expect(await names('/query/example.org/nobody')).toEqual({ names: [], total: 0, pages: 0 });
  });

  it('cannot be written to over HTTP', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await fetch(`${role.url}/lookup/bpp.example.com/subscribers.beckn.one/key-1`, {
        method,
      });
      expect(response.status).toBe(405);
    }
  });

  it('is understood by our own client, pages included', async () => {
    await database.query(
      `insert into registry.participant (namespace, registry_name, subscriber_id)
       select 'n' || n, $1, 'n' || n from generate_series(1, 1001) n`,
      [bpp.registryName],
    );
    await database.query(
      `insert into registry.signing_key (namespace, registry_name, record_id, public_key, state, ttl_seconds)
       select namespace, registry_name, 'key-1', $1, 'live', 60 from registry.participant on conflict do nothing`,
      [publicKey],
    );
    await database.query(
      `insert into registry.membership (namespace, registry_name, network_id)
       select namespace, registry_name, 'example.org/large' from registry.participant`,
    );
    const registry = createRegistryClient({
      url: role.url,
      registryName: bpp.registryName,
      client: http,
      logger: silentLogger(),
      metrics: createMetrics({ process: false }),
      now: () => clock,
    });
    expect(await registry.findKey('bpp.example.com', 'key-1')).toMatchObject({ kind: 'key' });
    expect(await registry.findKey('bpp.example.com', 'key-9')).toEqual({ kind: 'unknown-key' });
    expect(await registry.findKey('nobody.example.com', 'key-1')).toEqual({ kind: 'unknown-subscriber' });
    expect(await registry.queryNetwork('example.org/large')).toHaveLength(1_002);
    // The members listed under the name of a network do not lend it their keys.
    expect(await registry.findKey('example.org/large', 'key-1')).toEqual({ kind: 'unknown-key' });
  });

  async function register(
    namespace: string,
    {
      key = {},
      ...overrides
    }: { type?: string; url?: string; countries?: string[]; key?: { validUntil?: Date } } = {},
  ): Promise<void> {
    await registerParticipant(database, {
      ...bpp,
      namespace,
      subscriberId: namespace,
      networkIds: ['example.org/retail'],
      key: { recordId: 'key-1', publicKey, ...key },
      ...overrides,
    });
  }

  async function get(path: string, headers: Record<string, string> = {}, base = role.url) {
    const response = await fetch(`${base}${path}`, { headers });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }
});
