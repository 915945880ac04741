import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { createGuardedClient, type GuardedClient } from '../http/guarded-client.ts';
import { silentLogger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { generateSeed, privateKeyFromSeed, publicKeyOf } from '../protocol/keys.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { registerParticipant, setCatalogIndexUrls, setKeyState } from '../storage/participants.ts';
import { createRegistryClient } from './client.ts';
import { startRegistryRole } from './role.ts';

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
        details: {
          subscriber_id: 'bpp.example.com',
          url: 'https://bpp.example.com',
          type: 'BPP',
          signing_public_key: publicKey,
        },
        meta: { catalog_index_urls: [{ url: 'https://bpp.example.com/index/catalogs.index.json' }] },
        network_memberships: ['example.org/retail'],
        state: 'live',
        ttl: 300,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  });

  it('answers the same at the root', async () => {
    const root = role.url.replace('/dedi', '');
    expect((await get('/lookup/bpp.example.com/subscribers.beckn.one/key-1', {}, root)).status).toBe(200);
    expect((await get('/health', {}, root)).status).toBe(200);
    expect((await get('/ready', {}, root)).status).toBe(200);
  });

  it('describes its two routes', async () => {
    const { body } = await get('/openapi.json', {}, role.url.replace('/dedi', ''));
    expect(Object.keys(body.paths)).toEqual([
      '/dedi/lookup/{namespace}/{registryName}/{recordId}',
      '/dedi/query/{namespace}/{registryName}',
    ]);
  });

  it('answers 404 for what is not registered', async () => {
    expect((await get('/lookup/bpp.example.com/subscribers.beckn.one/key-9')).status).toBe(404);
    expect((await get('/lookup/nobody.example.com/subscribers.beckn.one/key-1')).status).toBe(404);
    expect((await get('/lookup/bpp.example.com/subscribers.beckn.one/%00')).status).toBe(404);
    const { status, body } = await get('/query/bpp.example.com/%00');
    expect([status, body.data.records]).toEqual([200, []]);
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
  });

  async function register(
    namespace: string,
    { key = {}, ...overrides }: { type?: string; url?: string; key?: { validUntil?: Date } } = {},
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
