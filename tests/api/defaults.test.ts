import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../src/http/openapi.ts';
import { actions } from '../../src/protocol/actions.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { trigger } from '../support/hosted/publisher.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { filter, hold } from '../support/network/discover.ts';
import { defaultNetwork } from '../support/network/network.ts';
import { publish, searched } from '../support/network/publish.ts';
import { pull, subscribe } from '../support/network/subscriptions.ts';
import { until } from '../support/time.ts';

// Every default in the OpenAPI documents, checked against the behaviour of a network when a request omits the value.

let the: TestConsole;
let provider: Actor;

beforeAll(async () => {
  the = await startConsole({
    ROLES: 'registry,catalog,discovery,publisher,console',
    MASTER_PUBLISHERS: '*',
  });
  provider = await the.network.actor('default-provider');
});
afterAll(() => the?.network.close());

const folder = 'docs/api';
const documents = readdirSync(folder).filter((name) => name.endsWith('.openapi.json'));
const defaults = documents.flatMap((name) => {
  const { paths, components }: OpenApiDocument = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
  return [...findDefaults(paths), ...findDefaults(components.schemas)].map(
    ([place, value]) => [`${name.split('.')[0]} ${place}`, value] as const,
  );
});

/** Each default with the names that lead to it; skips those that only belong to the form of the document. */
function* findDefaults(inside: unknown, at: readonly string[] = []): Generator<[string, unknown]> {
  if (typeof inside !== 'object' || inside === null) return;
  for (const [name, value] of Object.entries(inside)) {
    const { name: parameter } = inside as { name?: string };
    if (name === 'default') yield [at.join(' '), value];
    else if (name === 'schema' && parameter) yield* findDefaults(value, [...at, parameter]);
    else if (/^(?:properties|parameters|\d+)$/.test(name)) yield* findDefaults(value, at);
    else yield* findDefaults(value, [...at, name]);
  }
}

/** The observed behaviour without a value, expressed by one of the possible values. */
const observed: Record<string, () => Promise<unknown>> = {
  'catalog /catalog/subscription get limit': async () => (await listed()).limit,
  'catalog /catalog/subscription get offset': async () => (await listed()).offset,
  'catalog Catalog isActive': () => isServed('published'),
  'catalog ReceivedCatalog isActive': () => isServed('answered'),
  'catalog PublishDirective updateMode': async () => {
    await publish(provider, catalog('merged', { resources: [plain('one')] }));
    await publish(provider, catalog('merged', { resources: [plain('two')] }), {});
    return (await searched(provider, 'merged')).resources.length === 2 ? 'MERGE' : 'FULL';
  },
  'catalog PullMessage mode': async () => {
    // INCREMENTAL is refused.
    const subscriptionId = await subscribe(provider, { networkIds: [defaultNetwork] });
    return (await pull(provider, { subscriptionId })).status === 'COMPLETED' ? 'FULL' : 'INCREMENTAL';
  },
  'catalog PullMessage limit': async () => (await pulled()).limit,
  'catalog PullMessage offset': async () => (await pulled()).offset,
  'catalog SearchFilters type': async () => {
    await publish(provider, catalog('master'), { catalogType: 'MASTER' });
    await publish(provider, catalog('regular'));
    const { catalogs } = await search({ filters: {} });
    const found = ['master', 'regular'].filter((id) => catalogs.some((one: Body) => one.id === id));
    return found.join().toUpperCase();
  },
  'catalog SearchMessage limit': async () => (await search({})).pagination.limit,
  'catalog SearchMessage offset': async () => (await search({})).pagination.offset,
  'consumer ReceivedCatalog isActive': () => isServed('consumed'),
  'discovery /crawl-log get limit': async () => (await crawlLog()).limit,
  'discovery /crawl-log get offset': async () => (await crawlLog()).offset,
  'discovery SpatialEntry quantifier': async () => {
    const point = (longitude: number) => ({ type: 'Point' as const, coordinates: [longitude, 0] });
    const availableAt = [{ geo: point(0) }, { geo: point(90) }];
    const shop = { id: 'shops', descriptor: { name: 'Shops' }, availableAt };
    await hold(the.network.database, [{ id: 'shops', provider: shop, resources: [plain('shop')] }]);
    const targets = '$.catalogs[*].provider.availableAt[*].geo';
    const near = { op: 'S_DWITHIN', targets, geometry: point(0), distanceMeters: 1000 };
    const ask = async (entry: object) =>
      (await discover({ intent: { spatial: [{ ...near, ...entry }] } })).status;
    const status = await ask({});
    const same = [];
    for (const quantifier of ['ANY', 'ALL', 'NONE'])
      if ((await ask({ quantifier })) === status) same.push(quantifier);
    return same.join();
  },
  'discovery DiscoverMessage offset': async () => {
    await hold(the.network.database, [{ id: 'paged', resources: [plain('first'), plain('second')] }]);
    const { message } = await found({ ...filter("$.catalogs[?@.id == 'paged'].resources[*]"), limit: 1 });
    return message.pagination.offset;
  },
  'discovery ReceivedCatalog isActive': () => isServed('received'),
  'discovery Catalog isActive': () => isServed('pushed'),
  'discovery PublishDirective updateMode': async () => {
    await push(plain('one'), { updateMode: 'FULL' });
    await push(plain('two'), {});
    const { message } = await found(filter("$.catalogs[?@.id == 'pushed-parts'].resources[*]"));
    return message.catalogs[0].resources.length === 2 ? 'MERGE' : 'FULL';
  },
  'trigger TriggerDirective updateMode': async () => {
    const { config } = the.network;
    const send = (id: string) =>
      trigger(config, {
        message: {
          catalogs: [catalog('files', { resources: [plain(id)] })],
          publishDirectives: [{ catalogId: 'files', catalogType: 'REGULAR' }],
        },
      });
    await send('one');
    const { body } = await send('two');
    return body.warnings.some((text: string) => text.includes('one')) ? 'FULL' : 'MERGE';
  },
};

describe('the defaults of docs/api', () => {
  it.each(defaults)('are what the network does: %s is %j', async (place, value) => {
    expect(Object.keys(observed)).toContain(place);
    expect(await observed[place]?.()).toEqual(value);
  });

  it('are all that is confirmed here', () => {
    expect(Object.keys(observed).sort()).toEqual(defaults.map(([place]) => place).sort());
  });
});

const listed = async () =>
  (await provider.send(actions.listSubscriptions)).body.message.pagination as {
    limit: number;
    offset: number;
  };
const search = async (message: object) => (await provider.send(actions.search, message)).body.message;
const crawlLog = async () => {
  const query = { nodeId: provider.id };
  const { body } = await provider.send(actions.crawlLog, undefined, { to: the.network.discoveryUrl, query });
  return body.pagination ?? body.message.pagination;
};

async function pulled() {
  const subscriptionId = await subscribe(provider, { networkIds: [defaultNetwork] });
  return (await pull(provider, { subscriptionId })).pagination;
}

const discover = (message: object) =>
  provider.send(actions.discover, message, { to: the.network.discoveryUrl });

async function found(message: object): Promise<Body> {
  const { messageId } = await until(async () => {
    const asked = await discover(message);
    return asked.status === 200 ? asked : undefined;
  }, 'something is found');
  return (await provider.waitFor('on_discover', messageId)).body;
}

/** Whether a catalog published without isActive is pushed and found, and never called inactive. */
async function isServed(id: string): Promise<boolean> {
  await publish(provider, catalog(id));
  const { message } = await found(filter(`$.catalogs[?@.id == '${id}'].resources[*]`));
  const [one] = message.catalogs;
  return one.isActive !== false && (await searched(provider, id)).isActive !== false;
}

async function push(resource: ReturnType<typeof plain>, directive: object): Promise<void> {
  const { config, discoveryUrl: to } = the.network;
  const { id: bppId, url: bppUri } = config.identities.catalog;
  const publishDirectives = [
    { catalogId: 'pushed-parts', catalogType: 'REGULAR', visibleTo: [defaultNetwork], ...directive },
  ];
  const catalogs = [catalog('pushed-parts', { resources: [resource] })];
  const key = requireSigningKey(config.DATA_DIR, config.identities.catalog);
  const message = { catalogs, publishDirectives };
  const { status } = await provider.send(actions.push, message, { to, key, context: { bppId, bppUri } });
  expect(status).toBe(200);
}
