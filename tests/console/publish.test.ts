import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOrCreateSigningKey } from '../../src/registry/key-files.ts';
import { lockCatalogId } from '../../src/storage/catalog/catalogs.ts';
import { lockMasterIds } from '../../src/storage/catalog/masters.ts';
import { catalog, charger, plain } from '../support/catalogs/sample-catalogs.ts';
import { publishCatalog, resource } from '../support/catalogs/small-catalogs.ts';
import { crawl } from '../support/hosted/crawl.ts';
import type { Body } from '../support/network/actor.ts';
import { type ConsoleAnswer, startConsole, type TestConsole } from '../support/network/console.ts';
import { until } from '../support/time.ts';

// Publish: the page checks a text, publishes it with the real publisher identity, and waits until it is found.

let the: TestConsole;
beforeAll(async () => {
  the = await startConsole({ ROLES: 'registry,catalog,discovery,publisher,console' });
});
afterAll(() => the?.network.close());

const check = async (text: string) => (await the.ask('/api/publish/check', { body: { text } })).body;
const pretty = (value: unknown) => JSON.stringify(value, null, 2);
const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split('\n').length;

describe('POST /api/publish/check', () => {
  it('finds nothing wrong with a sound catalog, and counts what is in it', async () => {
    const text = pretty(catalog('sound', { resources: [charger('a'), plain('b')] }));
    expect(await check(text)).toEqual({
      ...{ parsed: true, faults: [], warnings: [] },
      catalogs: [{ catalogId: 'sound', resources: 2, offers: 0 }],
    });
  });

  it('names line and column where a text is no JSON', async () => {
    const { parsed, faults } = await check('{\n  "id": "x",\n}');
    expect(parsed).toBe(false);
    expect(faults).toEqual([
      expect.objectContaining({ code: 'SCH_INVALID_JSON', line: 3, column: 1, hint: expect.any(String) }),
    ]);
  });

  it.each([
    ['a catalog', (one: object) => one],
    ['an array of catalogs', (one: object) => [one]],
    ['a message', (one: object) => ({ catalogs: [one] })],
    ['a request', (one: object) => ({ context: {}, message: { catalogs: [one] } })],
  ])('finds every fault of %s at its place', async (_, wrap) => {
    const wrong = { ...catalog('c'), validity: { startDate: 'soon' }, surplus: 1 };
    const text = pretty(wrap(wrong));
    const { faults } = await check(text);
    expect(faults.map(({ code, line }: Body) => [code, line])).toEqual(
      expect.arrayContaining([
        ['SCH_FIELD_NOT_ALLOWED', lineOf(text, '"surplus"')],
        ['SCH_INVALID_FORMAT', lineOf(text, '"startDate"')],
      ]),
    );
  });

  it('makes the checks of the service: typed attributes, owners, warnings', async () => {
    const text = pretty(
      catalog('typed', {
        resources: [charger('good'), charger('bad', { connectorType: 'Nonsense' })],
        offers: [{ id: 'o', descriptor: { name: 'O' }, resourceIds: ['nowhere'] }],
      }),
    );
    const { faults, warnings } = await check(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({
      line: lineOf(text, '"Nonsense"'),
      path: expect.stringContaining('[1]'),
    });
    expect(warnings[0]).toMatchObject({ line: lineOf(text, '"nowhere"') });
    const { body } = await the.ask('/api/find', {
      body: { message: { intent: { textSearch: 'typed' } } },
    });
    expect(body.resourceCount).toBe(0);
  });

  it('shows all that is wrong at once: that a catalog is somebody else’s hides no fault of its content', async () => {
    const other = await the.network.actor('other-provider');
    await publishCatalog(other, { id: 'foreign', resources: [resource('r1')] });
    const text = pretty(catalog('foreign', { resources: [charger('bad', { connectorType: 'Nonsense' })] }));
    const { faults } = await check(text);
    expect(faults.map(({ code, line }: Body) => [code, line])).toEqual([
      ['AUT_UNAUTHORIZED_ACTION', lineOf(text, '"foreign"')],
      ['SCH_SCHEMA_VALIDATION_FAILED', lineOf(text, '"Nonsense"')],
    ]);
  });

  it('shows beside faults of shape whose catalog it is, ids given twice, and wrong attributes', async () => {
    const bad = charger('bad', { connectorType: 'Nonsense' });
    const wrong = {
      ...catalog('foreign', { resources: [bad, charger('bad'), 7 as never] }),
      ...{ validity: { startDate: 'soon' }, offers: [{ resourceIds: [5] }], surplus: 1 },
    };
    const { faults, warnings } = await check(pretty(wrong));
    const found = faults.map(
      ({ code, path }: Body) => `${path?.replace('$.message.catalogs[0].', '')} ${code}`,
    );
    expect(found.sort()).toEqual([
      'id AUT_UNAUTHORIZED_ACTION',
      'offers[0].id SCH_REQUIRED_FIELD_MISSING',
      'offers[0].resourceIds[0] SCH_SCHEMA_VALIDATION_FAILED',
      'resources[0].resourceAttributes.attributes.connectorType SCH_SCHEMA_VALIDATION_FAILED',
      'resources[1].id SCH_SCHEMA_VALIDATION_FAILED',
      'resources[2] SCH_SCHEMA_VALIDATION_FAILED',
      'surplus SCH_FIELD_NOT_ALLOWED',
      'validity.startDate SCH_INVALID_FORMAT',
    ]);
    expect(warnings).toEqual([]);
  });

  it('shows wrong attributes of a provider and of a resource at once', async () => {
    const { resourceAttributes: providerAttributes } = charger('p', { connectorType: 'Wooden' });
    const provider = { id: 'p', descriptor: { name: 'P' }, providerAttributes };
    const bad = charger('bad', { connectorType: 'Nonsense' });
    const text = pretty(catalog('two-faults', { provider, resources: [bad] }));
    const { faults } = await check(text);
    expect(faults.map(({ line }: Body) => line)).toEqual([
      lineOf(text, '"Wooden"'),
      lineOf(text, '"Nonsense"'),
    ]);
  });

  it('shows no consequences of a faulty directive: the template may be incomplete, as it may without the fault', async () => {
    const { '@context': context, '@type': type } = charger('t').resourceAttributes ?? {};
    const template = { id: 't', resourceAttributes: { '@context': context, '@type': type } };
    const publishDirectives = [{ catalogId: 'masters', catalogType: 'MASTER', updateMode: 'ALL' }];
    const { faults } = await check(
      pretty({ catalogs: [{ ...catalog('masters'), resources: [template] }], publishDirectives }),
    );
    expect(faults.map(({ path }: Body) => path)).toEqual(['$.message.publishDirectives[0].updateMode']);
  });

  it('checks as the identity that is chosen; the session lists those whose keys are here', async () => {
    const { config } = the.network;
    const as = 'other-provider.signpost.test';
    loadOrCreateSigningKey(config.DATA_DIR, { id: as });
    expect((await the.ask('/api/session')).body.publishers).toEqual([config.identities.publisher.id, as]);
    const text = pretty(catalog('foreign', { resources: [charger('c')] }));
    expect((await the.ask('/api/publish/check', { body: { text, as } })).body.faults).toEqual([]);
  });

  it('lists at most 200 warnings, as it does with faults', async () => {
    const resourceIds = Array.from({ length: 100 }, (_, index) => `nowhere-${index}`);
    const offers = [{ id: 'o', descriptor: { name: 'O' }, resourceIds }];
    const { faults, warnings } = await check(
      pretty(['w1', 'w2', 'w3'].map((id) => catalog(id, { resources: [plain(`${id}-r`)], offers }))),
    );
    expect([faults, warnings.length]).toEqual([[], 200]);
  });

  it('refuses a text of more than 4 MiB', async () => {
    const { status } = await the.ask('/api/publish/check', { body: { text: ' '.repeat(4 * 1024 * 1024) } });
    expect(status).toBe(413);
  });

  it('takes no lock of a publish: it answers while another transaction holds all of them', async () => {
    await the.network.database.transaction(async (publish) => {
      await lockMasterIds(publish);
      await lockCatalogId(publish, 'locked');
      for (const catalogType of ['REGULAR', 'MASTER']) {
        const publishDirectives = [{ catalogId: 'locked', catalogType }];
        const { parsed, catalogs } = await check(
          pretty({ catalogs: [catalog('locked')], publishDirectives }),
        );
        expect([parsed, catalogs]).toEqual([true, [expect.objectContaining({ catalogId: 'locked' })]]);
      }
    });
  });

  it('runs two at a time: those that wait too long behind them are told to come again', async () => {
    const ask = () => the.ask('/api/publish/check', { body: { text: pretty(catalog('waits')) } });
    let running: Promise<ConsoleAnswer[]> | undefined;
    await the.network.database.transaction(async (other) => {
      await other.query('lock table catalog.catalog in access exclusive mode');
      running = Promise.all([ask(), ask()]);
      await until(async () => {
        const { rows } = await the.network.database.query(
          "select from pg_locks where not granted and relation = 'catalog.catalog'::regclass",
        );
        return rows.length >= 2;
      });
      const { status, headers, body } = await ask();
      expect([status, body.error.code]).toEqual([503, 'NET_OVERLOADED']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    });
    expect((await running)?.map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask()).status).toBe(200);
  });
});

describe('POST /api/publish', () => {
  const publish = async (way: string, value: object) => {
    const { status, body } = await the.ask('/api/publish', { body: { text: pretty(value), way } });
    expect(status).toBe(200);
    return body;
  };
  const progress = async (messageId: string) => (await the.ask(`/api/publish/${messageId}`)).body;
  const isFound = async (id: string) => {
    const message = {
      intent: { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?@.id=='${id}']` } },
    };
    return (await the.ask('/api/find', { body: { message } })).body.resourceCount === 1;
  };

  it('through the service is watched from ACK over on_publish and push to the index', async () => {
    const sent = await publish('service', catalog('watched', { resources: [plain('seen')] }));
    expect(sent).toMatchObject({ way: 'service', messageId: expect.any(String) });
    const { steps, results } = await until(async () => {
      const body = await progress(sent.messageId);
      return body.steps.every(({ state }: Body) => state === 'done') && body;
    });
    expect(steps.map(({ step }: Body) => step)).toEqual([
      ...['sent', 'ack', 'processed', 'on_publish', 'pushed', 'indexed'],
    ]);
    expect(steps.every(({ at }: Body) => typeof at === 'string')).toBe(true);
    expect(results).toEqual([expect.objectContaining({ catalogId: 'watched', status: 'ACCEPTED' })]);
    expect(await isFound('seen')).toBe(true);
    const { body } = await the.ask('/api/audit');
    expect(body.items[0]).toMatchObject({ action: 'publish', outcome: 'done' });
  });

  it('through the service says which catalogs were rejected', async () => {
    const wrong = catalog('rejected', { resources: [charger('x', { connectorType: 'Nonsense' })] });
    const { messageId } = await publish('service', wrong);
    const { steps, results } = await until(async () => {
      const body = await progress(messageId);
      return body.steps[2].state !== 'waiting' && body;
    });
    expect(results[0].status).toBe('REJECTED');
    expect(steps[2]).toMatchObject({ step: 'processed', state: 'failed', detail: 'rejected: REJECTED' });
  });

  it('as signed files is watched until the crawler has indexed it', async () => {
    const sent = await publish('files', catalog('signed', { resources: [plain('crawled')] }));
    expect(sent.results).toEqual([expect.objectContaining({ catalogId: 'signed', status: 'ACCEPTED' })]);
    const { steps } = await until(async () => {
      await crawl(the.network.database);
      const body = await progress(sent.messageId);
      return body.steps.every(({ state }: Body) => state === 'done') && body;
    });
    expect(steps.map(({ step }: Body) => step)).toEqual(['sent', 'processed', 'indexed']);
    expect(await isFound('crawled')).toBe(true);
  });

  it('needs a message that the service takes', async () => {
    const { status, body } = await the.ask('/api/publish', { body: { text: '{"id": 1}', way: 'service' } });
    expect([status, body.error.path]).toEqual([400, expect.stringContaining('$.message.catalogs[0]')]);
  });

  it('as somebody whose key is elsewhere is refused, with the command that does it', async () => {
    const request = { text: pretty(catalog('c')), way: 'service', as: 'elsewhere.example.org' };
    const { status, body } = await the.ask('/api/publish', { body: request });
    expect([status, body.error.hint]).toEqual([409, expect.stringContaining('signpost publish FILE --to')]);
  });

  it('is not for whoever has no operator token', async () => {
    const { config } = the.network;
    const response = await fetch(`${config.consoleUrl}/api/publish`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ text: '{}', way: 'service' }),
    });
    expect(response.status).toBe(401);
  });

  it('knows nothing of a publish that never was', async () => {
    expect((await the.ask('/api/publish/nothing')).status).toBe(404);
    expect((await the.ask('/api/publish/files-x')).status).toBe(404);
    const made = Buffer.from(JSON.stringify({ at: 'now', catalogs: [1, null] })).toString('base64url');
    expect((await the.ask(`/api/publish/files-${made}`)).status).toBe(404);
  });
});
