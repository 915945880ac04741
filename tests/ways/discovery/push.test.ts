import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../../src/protocol/actions.ts';
import { catalogsAtOnce, findCopies } from '../../../src/storage/feeds/copies.ts';
import { catalog, charger, chargerContext, offer, plain } from '../../support/catalogs/sample-catalogs.ts';
import { newId } from '../../support/catalogs/small-catalogs.ts';
import type { Actor } from '../../support/network/actor.ts';
import {
  held,
  names,
  startDiscovery,
  type TestDiscovery,
  withoutDiscovery,
} from '../../support/network/discovery.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { type PlayedService, playService } from '../../support/network/played-service.ts';
import { until } from '../../support/time.ts';

// Good and bad pushes of catalog services (catalog spec: POST /catalog/push). The test plays the service.

const retail = 'a.example/retail';
const energy = 'b.example/energy';

let network: TestNetwork;
let service: PlayedService;
let second: PlayedService;
let stranger: Actor;
let discovery: TestDiscovery;

beforeAll(async () => {
  network = await startNetwork({ settings: withoutDiscovery });
  const to = () => discovery.url;
  service = await playService(network, 'service', to);
  second = await playService(network, 'second', to);
  stranger = await network.actor('stranger');
  discovery = await startDiscovery(
    network,
    [
      { catalogUrl: service.actor.url, networkIds: [retail] },
      { catalogUrl: service.actor.url, networkIds: [energy], schemaTypes: [chargerContext] },
      { catalogUrl: second.actor.url, catalogId: second.actor.id, networkIds: [retail] },
    ],
    { RATE_LIMIT_PER_SECOND: '5' },
  );
  await discovery.settled();
});
afterAll(async () => {
  await discovery?.stop();
  await network?.close();
});

const inRetail = { visibleTo: [retail] };
const at = (seconds: number) => ({
  context: { timestamp: new Date(Date.now() + seconds * 1000).toISOString() },
});

describe('POST /catalog/push', () => {
  it('200: applies the catalog before it answers, with the networks of the directive and the owner that the catalog names', async () => {
    const one = catalog(newId(), { bppId: 'shop.example', resources: [plain('a')], offers: [offer('o')] });
    const { status, body, messageId, answerSigned } = await service.push([one], inRetail);
    expect({ status, body }).toEqual({ status: 200, body: { message: { status: 'ACK', messageId } } });
    expect(answerSigned).toBe(true);
    expect(await held(network.database, one.id)).toMatchObject({
      source: `service:${service.identity}`,
      owner: 'shop.example/subscribers.beckn.one',
      networks: [retail],
      served: true,
      resources: [{ id: 'a' }],
      offers: [{ id: 'o' }],
    });
  });

  it('200: applies a push whose context leaves out who sends it', async () => {
    const one = catalog(newId(), { resources: [plain('a')] });
    const context = { bppId: undefined, bppUri: undefined };
    expect((await service.push([one], inRetail, { context })).status).toBe(200);
    expect(await held(network.database, one.id)).toMatchObject({ source: `service:${service.identity}` });
  });

  it('MERGE puts in resources and offers by id and keeps the others; FULL leaves exactly what it brings', async () => {
    const id = newId();
    await service.push(
      [catalog(id, { resources: [plain('a'), plain('b')], offers: [offer('o')] })],
      inRetail,
    );
    const merge = { ...inRetail, updateMode: 'MERGE' };
    await service.push([catalog(id, { resources: [plain('b', 'new'), plain('c')] })], merge);
    expect(await names(network.database, id)).toEqual(['Resource a', 'new', 'Resource c']);
    expect((await held(network.database, id)).offers).toHaveLength(1);
    await service.push([catalog(id, { resources: [plain('c')] })], inRetail);
    expect(await held(network.database, id)).toMatchObject({ resources: [{ id: 'c' }], offers: [] });
  });

  it('200: applies every catalog of a push that has more than one transaction locks', async () => {
    const many = Array.from({ length: 2 * catalogsAtOnce + 1 }, () => catalog(newId(), { resources: [] }));
    expect((await service.push(many, inRetail)).status).toBe(200);
    const ids = many.map(({ id }) => id);
    const copies = await findCopies(network.database, `service:${service.identity}`, ids);
    expect(copies.size).toBe(many.length);
  });

  it('202 BIZ_NO_RESULTS_FOUND from somebody whom it does not subscribe to', async () => {
    const one = catalog(newId());
    const directive = { catalogId: one.id, catalogType: 'REGULAR', visibleTo: [retail] };
    const { status, body, messageId } = await stranger.send(
      actions.push,
      { catalogs: [one], publishDirectives: [directive] },
      { to: discovery.url },
    );
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { message: { status: 'ACK', messageId, error: { code: 'BIZ_NO_RESULTS_FOUND' } } },
    });
    expect(await held(network.database, one.id)).toBeUndefined();
  });

  it('202 BIZ_NO_RESULTS_FOUND when neither the networks nor the schema types match a subscription', async () => {
    const elsewhere = catalog(newId());
    expect((await service.push([elsewhere], { visibleTo: ['c.example/other'] })).status).toBe(202);
    const untyped = catalog(newId());
    expect((await service.push([untyped], { visibleTo: [energy] })).status).toBe(202);
    const typed = catalog(newId(), { resources: [charger('c1')] });
    expect((await service.push([typed], { visibleTo: [energy] })).status).toBe(200);
    expect(await held(network.database, elsewhere.id)).toBeUndefined();
    expect(await held(network.database, untyped.id)).toBeUndefined();
    expect(await held(network.database, typed.id)).toBeDefined();
  });

  it('processes every push of a catalog that it holds from that sender, also when nothing matches any more', async () => {
    const one = catalog(newId());
    await service.push([one], inRetail);
    const leaving = { visibleTo: ['c.example/other'], updateMode: 'MERGE' };
    expect((await service.push([{ ...one, isActive: false }], leaving)).status).toBe(200);
    expect(await held(network.database, one.id)).toMatchObject({ head: { isActive: false } });
  });

  it('200: a push that is older than the last applied one of that catalog is acknowledged and not applied', async () => {
    const id = newId();
    const named = (name: string) => [catalog(id, { resources: [plain('a', name)] })];
    await service.push(named('second'), inRetail, at(10));
    const { status, body } = await service.push(named('first'), inRetail, at(5));
    expect([status, body.message.status, body.message.error]).toEqual([200, 'ACK', undefined]);
    expect(await names(network.database, id)).toEqual(['second']);
    await service.push(named('third'), inRetail, at(15));
    expect(await names(network.database, id)).toEqual(['third']);
  });

  it('does the same push once, gives the same answer, and refuses another body under its messageId', async () => {
    const id = newId();
    const context = { messageId: randomUUID(), transactionId: 't', timestamp: new Date().toISOString() };
    const body = [catalog(id, { resources: [plain('a')] })];
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => service.push(body, inRetail, { context })),
    );
    expect(new Set(answers.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1);
    await service.push([catalog(id, { resources: [plain('b')] })], inRetail, at(1));
    expect((await service.push(body, inRetail, { context })).status).toBe(200);
    expect(await names(network.database, id)).toEqual(['Resource b']);
    const changed = await service.push([catalog(id)], inRetail, { context });
    expect([changed.status, changed.body.message.error.code]).toEqual([400, 'CTX_MESSAGE_ID_DUPLICATE']);
  });

  it('pulls on a MERGE for a catalog that it does not hold', async () => {
    const id = newId();
    service.catalogs = [catalog(id, { resources: [plain('a'), plain('b')] })];
    const { status } = await service.push([catalog(id, { resources: [plain('b')] })], {
      ...inRetail,
      updateMode: 'MERGE',
    });
    expect(status).toBe(200);
    await until(async () => (await names(network.database, id))?.length === 2, 'the rest to be pulled');
    await discovery.settled();
  });

  it('400: refuses what is malformed, and pulls, because something may be missing now', async () => {
    await discovery.settled();
    const before = service.pulls.length;
    const { status, body } = await service.push(
      [{ id: 'without-provider', descriptor: {}, resources: [] }],
      inRetail,
    );
    expect([status, body.message]).toMatchObject([
      400,
      {
        status: 'NACK',
        error: { code: 'SCH_REQUIRED_FIELD_MISSING', details: { path: '$.message.catalogs[0].provider' } },
      },
    ]);
    await until(() => service.pulls.length > before, 'a pull');
    await discovery.settled();
  });

  it('401: takes no push whose signature is missing or wrong', async () => {
    const headers = { authorization: '' };
    const missing = await service.push([catalog(newId())], inRetail, { headers });
    expect(missing.status).toBe(401);
    const wrong = await service.push([catalog(newId())], inRetail, {
      key: { ...stranger.key, subscriberId: service.actor.id },
    });
    expect([wrong.status, wrong.body.message.error.code]).toEqual([401, 'AUT_SIGNATURE_INVALID']);
    const chained = await service.push([catalog(newId())], inRetail, { answering: 'x' });
    expect(chained.status).toBe(401);
  });

  it('429: limits others, and never the services that it subscribes to', async () => {
    const push = (as: Actor) =>
      as.send(actions.push, { catalogs: [catalog('limited')] }, { to: discovery.url });
    const strangers = await Promise.all(Array.from({ length: 60 }, () => push(stranger)));
    const refused = strangers.find(({ status }) => status === 429);
    expect(refused?.body.message.error.code).toBe('AUT_RATE_LIMITED');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const statuses = await Promise.all(
      Array.from({ length: 30 }, () => service.push([catalog(newId())], inRetail)),
    );
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('413: says so when a body is too large, so that the service splits it', async () => {
    const long = plain('a', 'x'.repeat(17 * 1024 * 1024));
    const { status } = await service.push([catalog(newId(), { resources: [long] })], inRetail);
    expect(status).toBe(413);
    await discovery.settled();
  });

  it('500: an unexpected failure undoes everything, is told without its reason, and is followed by a pull', async () => {
    await discovery.settled();
    const { database } = network;
    const id = newId();
    await database.query("alter table discovery.catalog add constraint trouble check (id <> 'trouble')");
    const before = service.pulls.length;
    const { status, body } = await service.push([catalog(id), catalog('trouble')], inRetail);
    await database.query('alter table discovery.catalog drop constraint trouble');
    expect([status, body.message.error]).toEqual([
      500,
      { code: 'NET_INTERNAL_ERROR', message: expect.any(String) },
    ]);
    expect(JSON.stringify(body)).not.toContain('trouble');
    expect(await held(database, id)).toBeUndefined();
    await until(() => service.pulls.length > before, 'a pull');
    await discovery.settled();
  });
});

describe('between catalog services', () => {
  it('the first configured one that holds a catalog counts, and the next one when that lets it go', async () => {
    const id = newId();
    const named = (name: string) => [catalog(id, { bppId: 'shop.example', resources: [plain('a', name)] })];
    await second.push(named('of the second'), inRetail);
    expect(await held(network.database, id)).toMatchObject({
      source: `service:${second.identity}`,
      served: true,
    });
    await service.push(named('of the first'), inRetail);
    await second.push(named('of the second, newer'), inRetail);
    const served = async () => {
      const { rows } = await network.database.query(
        'select source from discovery.catalog where id = $1 and served',
        [id],
      );
      return rows;
    };
    expect(await served()).toEqual([{ source: `service:${service.identity}` }]);
    service.catalogs = [];
    second.catalogs = named('of the second, newer');
    await discovery.pull();
    await discovery.pull();
    expect(await served()).toEqual([{ source: `service:${second.identity}` }]);
  });

  it('a catalog under a released id goes with its old owner when the new one publishes', async () => {
    const id = newId();
    await service.push([catalog(id, { bppId: 'old.example' })], inRetail);
    await service.push([catalog(id, { bppId: 'new.example' })], inRetail);
    const { rows } = await network.database.query('select owner from discovery.catalog where id = $1', [id]);
    expect(rows).toEqual([{ owner: 'new.example/subscribers.beckn.one' }]);
  });
});
