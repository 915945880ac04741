import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenHeader } from '../../../src/cli/trigger-client.ts';
import { maxTriggerBodyBytes } from '../../../src/publisher/trigger.ts';
import { setCatalogIndexUrls } from '../../../src/storage/registry/participants.ts';
import {
  defaultIndex,
  fetchFile,
  smallCatalog,
  startPublisher,
  type TestPublisher,
  trigger,
} from '../../support/hosted/publisher.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';

// The local trigger of a running publisher, and the served files after its answers.

let publisher: TestPublisher;

beforeAll(async () => {
  publisher = await startPublisher();
});
afterAll(() => publisher.close());

const context = { action: 'catalog/publish' };

async function entryOf(catalogId: string, index = defaultIndex) {
  const { body } = await fetchFile(publisher.config, index);
  return body?.catalogs.find((entry: { catalogId: string }) => entry.catalogId === catalogId);
}

/** The status of the answer to a request with these headers. */
async function triggerWith(given: Record<string, string>, request: object): Promise<number | undefined> {
  const headers = { ...given, 'content-type': 'application/json', ...tokenHeader(publisher.config) };
  const sent = httpRequest(`${publisher.config.triggerUrl}/catalog/publish`, { method: 'POST', headers });
  sent.end(JSON.stringify(request));
  const [response] = await once(sent, 'response');
  response.resume();
  sent.destroy();
  return response.statusCode;
}

describe('the trigger', () => {
  it('needs no database', () => {
    expect(publisher.hasDatabase).toBe(false);
  });

  it('answers when the files are served: a baseline first, then changes', async () => {
    const first = await trigger(publisher.config, {
      context,
      message: { catalogs: [smallCatalog('coffee')] },
    });
    expect(first).toMatchObject({
      status: 200,
      body: { status: 'COMPLETED', results: [{ catalogId: 'coffee', status: 'ACCEPTED', version: 1 }] },
    });
    const { baseline } = await entryOf('coffee');
    expect((await fetchFile(publisher.config, baseline.url)).body).toMatchObject({
      catalogId: 'coffee',
      version: 1,
      catalog: { resources: [{ id: 'espresso' }] },
    });

    const message = { catalogs: [smallCatalog('coffee', ['espresso', 'ristretto'])] };
    expect((await trigger(publisher.config, { context, message })).body.results).toEqual([
      { catalogId: 'coffee', status: 'ACCEPTED', version: 2 },
    ]);
    const { entryVersion, changes } = await entryOf('coffee');
    expect(entryVersion).toBe(2);
    expect((await fetchFile(publisher.config, changes[0].url)).body).toMatchObject({
      fromVersion: 1,
      toVersion: 2,
      resources: { upserts: [{ id: 'ristretto' }], removals: [] },
    });
  });

  it('tells each catalog that is accepted from each that is not, with the path of the fault', async () => {
    const master = { ...smallCatalog('a-master'), offers: [{ id: 'o1', descriptor: { name: 'o1' } }] };
    const { status, body } = await trigger(publisher.config, {
      message: {
        catalogs: [smallCatalog('tea'), master],
        publishDirectives: [{ catalogId: 'a-master', catalogType: 'MASTER' }],
      },
    });
    expect([status, body.status]).toEqual([200, 'COMPLETED']);
    expect(body.results).toMatchObject([
      { catalogId: 'tea', status: 'ACCEPTED', version: 1 },
      {
        catalogId: 'a-master',
        status: 'REJECTED',
        errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.catalogs[1].offers' } }],
      },
    ]);
  });

  it('pauses, resumes and retires without a message, and answers FAILED when nothing was to be done', async () => {
    await trigger(publisher.config, { message: { catalogs: [smallCatalog('cocoa')] } });
    expect((await trigger(publisher.config, { pause: ['cocoa'] })).body.status).toBe('COMPLETED');
    expect(await entryOf('cocoa')).toMatchObject({ isActive: false });
    await trigger(publisher.config, { resume: ['cocoa'] });
    expect(await entryOf('cocoa')).toMatchObject({ isActive: true });
    await trigger(publisher.config, { retire: ['cocoa'] });
    expect(await entryOf('cocoa')).toMatchObject({ retiredAt: expect.any(String) });
    expect(await entryOf('cocoa')).not.toHaveProperty('changes');
    const again = await trigger(publisher.config, { message: { catalogs: [smallCatalog('cocoa')] } });
    expect(again).toMatchObject({
      status: 200,
      body: { status: 'FAILED', results: [{ catalogId: 'cocoa', status: 'REJECTED' }] },
    });
  });

  it('puts new catalogs into the index that the query names, which the Subscriber record then lists', async () => {
    const { config } = publisher;
    const message = { catalogs: [smallCatalog('mate')] };
    const answer = await trigger(config, { message }, { query: '?index=bangalore' });
    expect(answer.body.results).toMatchObject([{ status: 'ACCEPTED' }]);
    expect(await entryOf('mate', 'index/bangalore.index.json')).toMatchObject({ entryVersion: 1 });
    const { body: manifest } = await fetchFile(config, '.well-known/dedi.index.json');
    const { body: record } = await fetchFile(config, manifest.files[0].url);
    expect(record.records[0].meta.catalog_index_urls).toEqual([
      { url: `${config.catalogBaseUrl}/index/bangalore.index.json` },
      { url: `${config.catalogBaseUrl}/${defaultIndex}` },
    ]);
  });

  it.each([
    ['SCH_INVALID_JSON', undefined, '{'],
    ['SCH_INVALID_JSON', undefined, ''],
    ['SCH_REQUIRED_FIELD_MISSING', '$', {}],
    [
      'SCH_FIELD_NOT_ALLOWED',
      '$.message.surprise',
      { message: { catalogs: [smallCatalog('x')], surprise: 1 } },
    ],
    ['CTX_ACTION_MISMATCH', '$.context.action', { context: { action: 'discover' }, retire: ['x'] }],
    [
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.message.catalogs[1].id',
      { message: { catalogs: [smallCatalog('x'), smallCatalog('x')] } },
    ],
  ])('%s at %s: %j', async (code, path, request) => {
    const { status, body } = await trigger(publisher.config, request);
    expect(status).toBe(400);
    expect(body.message).toMatchObject({
      status: 'NACK',
      error: { code, ...(path && { details: { path } }) },
    });
  });

  it('refuses an index name that is none', async () => {
    const { status, body } = await trigger(publisher.config, { retire: [] }, { query: '?index=../x' });
    expect([status, body.message.error.code]).toEqual([400, 'CTX_INVALID_FIELD']);
  });

  it.each([
    ['origin', 'null'],
    ['origin', 'http://127.0.0.1:4005'],
    ['forwarded', 'for=192.0.2.1'],
    ['via', '1.1 proxy'],
    ['x-forwarded-for', '192.0.2.1'],
    ['x-forwarded-host', 'publisher.example'],
    ['x-forwarded-proto', 'https'],
  ])('takes nothing that carries %s: %s', async (name, value) => {
    const { status, body } = await trigger(
      publisher.config,
      { retire: ['coffee'] },
      { headers: { [name]: value } },
    );
    expect([status, body.message.error.code]).toEqual([403, 'AUT_UNAUTHORIZED_ACTION']);
    expect(await entryOf('coffee')).not.toHaveProperty('retiredAt');
  });

  it.each([
    ['rebound.example:4005', 403],
    ['rebound.example', 403],
    ['192.0.2.1:4005', 403],
    ['127.0.0.1.rebound.example', 403],
    ['localhost', 200],
    ['LOCALHOST:4005', 200],
    ['127.0.0.1:4005', 200],
    ['[::1]:4005', 200],
  ])(
    'looks at the name that it is asked by, which a page in a browser cannot choose: %s',
    async (host, status) => {
      expect(await triggerWith({ host }, { pause: [] })).toBe(status);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-seq', ''])(
    'takes only application/json, not "%s"',
    async (type) => {
      const { status, body } = await trigger(
        publisher.config,
        { retire: ['coffee'] },
        { headers: { 'content-type': type } },
      );
      expect([status, body.message.error.code]).toEqual([415, 'SCH_SCHEMA_VALIDATION_FAILED']);
      expect(body.message.error.message).toContain('must be application/json');
      expect(await entryOf('coffee')).not.toHaveProperty('retiredAt');
    },
  );

  it('takes bodies that are larger than those of a catalog service, and refuses those beyond its limit with 413', async () => {
    const name = 'x'.repeat(publisher.config.BODY_SIZE_LIMIT);
    const large = { ...smallCatalog('large'), descriptor: { name } };
    const { body } = await trigger(publisher.config, { message: { catalogs: [large] } });
    expect(body.status).toBe('COMPLETED');
    const tooLong = { 'content-length': String(maxTriggerBodyBytes + 1) };
    expect(await triggerWith(tooLong, { pause: [] })).toBe(413);
  });

  it('listens at an address of its own: the public one knows no trigger', async () => {
    const response = await fetch(`${publisher.config.catalogBaseUrl}/catalog/publish`, { method: 'POST' });
    expect(response.status).toBe(405);
  });

  it('does one request after the other: none of many at once is lost', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `at-once-${index}`);
    const answers = await Promise.all(
      ids.map((id) => trigger(publisher.config, { message: { catalogs: [smallCatalog(id)] } })),
    );
    expect(answers.map(({ body }) => body.status)).toEqual(ids.map(() => 'COMPLETED'));
    const { body: index } = await fetchFile(publisher.config, defaultIndex);
    const listed = index.catalogs.map(({ catalogId }: { catalogId: string }) => catalogId);
    expect(listed).toEqual(expect.arrayContaining(ids));
  });
});

describe('a registry that does not know everything', () => {
  let network: TestNetwork;
  beforeAll(async () => {
    network = await startNetwork({ settings: { ROLES: 'registry,publisher', LOG_LEVEL: 'silent' } });
  });
  afterAll(() => network.close());

  it('is warned of: without the index in its record no crawler will find it', async () => {
    const { config, database } = network;
    const message = { catalogs: [smallCatalog('coffee')] };
    const url = `${config.catalogBaseUrl}/${defaultIndex}`;
    expect((await trigger(config, { message })).body.warnings).toEqual([
      expect.stringContaining(`does not list ${url} in meta.catalog_index_urls`),
    ]);
    const participant = { namespace: config.identities.publisher.id, registryName: config.REGISTRY_NAME };
    await setCatalogIndexUrls(database, participant, [url]);
    expect((await trigger(config, { message })).body).not.toHaveProperty('warnings');
  });

  it('is warned of when it cannot be queried', async () => {
    const { body } = await trigger(publisher.config, { message: { catalogs: [smallCatalog('coffee')] } });
    expect(body.warnings).toContainEqual(expect.stringContaining('The registry does not answer'));
  });
});
