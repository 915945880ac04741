import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../src/http/openapi.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { parseEnvelope } from '../../src/protocol/envelope.ts';
import { type ActionExamples, actionExamples } from '../../src/protocol/example-messages.ts';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { trigger } from '../support/hosted/publisher.ts';
import type { Actor, Exchange, SendOptions } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { until } from '../support/time.ts';
import { changed } from '../support/values/changed.ts';

// The examples of the OpenAPI documents, sent to a network: every request and callback, every member, and the bodies that the console accepts.
// Refusals are in refusals.test.ts.
// Ids, addresses and times of the context are the sender's.

let the: TestConsole;
let provider: Actor;
let application: Actor;
let subscriptionId = '';
/** Paths and names of the examples that were sent. */
const sent = new Set<string>();

beforeAll(async () => {
  the = await startConsole({ ROLES: 'registry,catalog,discovery,publisher,console' });
  provider = await the.network.actor('example-provider');
  application = await the.network.actor('example-application');
});
afterAll(() => the?.network.close());

type ActionId = keyof typeof actions;
const examplesOf = (id: ActionId): ActionExamples => actionExamples[id];
const bodiesOf = (id: ActionId) =>
  Object.entries(examplesOf(id).bodies).map(([name, { value }]) => ({
    name,
    ...(value as { context: Record<string, unknown>; message: Record<string, unknown> }),
  }));

function sendExample(actor: Actor, id: ActionId, name: string, options: SendOptions = {}): Promise<Exchange> {
  sent.add(`${actions[id].path} ${name}`);
  const body = bodiesOf(id).find((one) => one.name === name);
  const message =
    body && 'subscriptionId' in body.message ? { ...body.message, subscriptionId } : body?.message;
  const { schemaContext, networkId } = body?.context ?? {};
  const context = { ...(schemaContext ? { schemaContext } : {}), ...(networkId ? { networkId } : {}) };
  return actor.send(actions[id], message, { ...options, context: { ...context, ...options.context } });
}

describe('the examples of requests', () => {
  it('are accepted by the catalog service: subscribe', async () => {
    const { status, body } = await sendExample(application, 'subscribe', 'subscribe');
    expect(status).toBe(200);
    subscriptionId = body.message.subscriptions[0].subscriptionId;
  });

  it('are accepted by the catalog service: publish, whose result is that of the example', async () => {
    const { status, messageId } = await sendExample(provider, 'publish', 'publish');
    expect(status).toBe(200);
    const { body } = await provider.waitFor('catalog/on_publish', messageId);
    const [accepted] = bodiesOf('onPublish');
    expect(body.message).toEqual(accepted?.message);
  });

  it('are accepted by the catalog service: pull, search, list and unsubscribe', async () => {
    expect((await sendExample(application, 'pull', 'pull')).status).toBe(200);
    const found = await sendExample(application, 'search', 'search');
    expect(found.body.message.catalogs[0].id).toBe('voltpath-indiranagar');
    const query = texts(examplesOf('listSubscriptions').query);
    const listed = await application.send(actions.listSubscriptions, undefined, { query });
    expect(listed.body.message.subscriptions[0].subscriptionId).toBe(subscriptionId);
    const ended = await application.send(actions.unsubscribe, undefined, { query: { subscriptionId } });
    expect(ended.body.message.subscriptions[0].status).toBe('INACTIVE');
  });

  it('are accepted by the discovery service: discover, which finds what was published', async () => {
    const to = the.network.discoveryUrl;
    for (const { name } of bodiesOf('discover')) {
      const { messageId } = await until(async () => {
        const asked = await sendExample(application, 'discover', name, { to });
        expect([200, 202]).toContain(asked.status);
        return asked.status === 200 ? asked : undefined;
      }, `the example ${name} finds something`);
      const { body } = await application.waitFor('on_discover', messageId);
      expect(body.message.catalogs[0].resources[0].id).toBe('voltpath:IND-1');
    }
  });

  it('are accepted by the discovery service: push of the catalog service, and the crawl log of a node', async () => {
    const { config, discoveryUrl: to } = the.network;
    const { id: bppId, url: bppUri } = config.identities.catalog;
    const pushed = await sendExample(provider, 'push', 'push', {
      ...{ to, key: keyOf('catalog'), context: { bppId, bppUri } },
    });
    expect(pushed.status).toBe(200);
    const query = { ...texts(examplesOf('crawlLog').query), nodeId: provider.id };
    const log = await provider.send(actions.crawlLog, undefined, { to, query });
    expect(log.status).toBe(200);
  });
});

/** The bodies of requests in a document, by path and name. */
function requestsIn(document: string): [path: string, name: string, value: object][] {
  const { paths }: OpenApiDocument = JSON.parse(readFileSync(`docs/api/${document}`, 'utf8'));
  return Object.entries(paths).flatMap(([path, { post }]) =>
    Object.entries(post?.requestBody?.content['application/json'].examples ?? {}).map(
      ([name, { value }]): [string, string, object] => [path, name, value as object],
    ),
  );
}

describe('the examples of plain requests', () => {
  it('are accepted by the trigger, with the query of the example', async () => {
    const { config } = the.network;
    const query = `?index=catalogs&node=${config.identities.publisher.id}`;
    for (const [path, name, value] of requestsIn('trigger.openapi.json')) {
      const { body } = await trigger(config, value, { query });
      expect(body).toMatchObject({ status: 'COMPLETED', results: [{ status: 'ACCEPTED' }] });
      sent.add(`trigger ${path} ${name}`);
    }
  });

  it('are accepted as hints, of a node that is crawled', async () => {
    const [hint] = requestsIn('discovery.openapi.json').filter(([path]) => path === '/crawl-hints');
    expect(hint?.[2]).toEqual({ nodeId: expect.any(String) });
    const response = await fetch(`${the.network.discoveryUrl}/crawl-hints`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nodeId: the.network.config.identities.publisher.id }),
    });
    expect(await response.json()).toEqual({ message: { status: 'ACK' } });
    sent.add(`/crawl-hints ${hint?.[1]}`);
  });
});

describe('the examples of callbacks', () => {
  const callbacks = (['onPublish', 'onPull', 'onDiscover'] as const).flatMap((id) =>
    bodiesOf(id).map(({ name, context, message }) => [id, name, { context, message }] as const),
  );

  it.each(callbacks)('are read, and acknowledged by who receives them: %s %s', async (id, name, body) => {
    const action: Action = actions[id];
    sent.add(`${action.path} ${name}`);
    expect(parseEnvelope(body, action, new Date())).toEqual(body);
    const to = `${the.network.config.consoleUrl}/inbox`;
    const key = keyOf(id === 'onDiscover' ? 'discovery' : 'catalog');
    const answer = await provider.send(action, undefined, {
      ...{ to, key, raw: Buffer.from(JSON.stringify(body)) },
    });
    expect(answer).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
  });
});

const documents = readdirSync('docs/api').filter((name) => name.endsWith('.openapi.json'));

it.each(documents)('All requests and callbacks of %s have been sent above', (document) => {
  const role = document === 'trigger.openapi.json' ? 'trigger ' : '';
  const all = requestsIn(document).map(([path, name]) => `${role}${path} ${name}`);
  expect(all.filter((one) => !sent.has(one))).toEqual([]);
  expect(all.length).toBeGreaterThan(0);
});

describe('the examples of members', () => {
  /** The place of each schema in a request. */
  const places: Record<string, [ActionId, name: string, at: (string | number)[]]> = {
    Context: ['subscribe', 'subscribe', ['context']],
    SubscriptionSelection: ['subscribe', 'subscribe', ['message', 'subscription']],
    SearchFilters: ['search', 'search', ['message', 'filters']],
    PublishDirective: ['publish', 'publish', ['message', 'publishDirectives', 0]],
    Variant: ['publish', 'publish', ['message', 'publishDirectives', 0, 'resourceDirectives', 0, 'variant']],
    Geometry: ['publish', 'publish', ['message', 'catalogs', 0, 'provider', 'availableAt', 0, 'geo']],
    TimePeriod: ['publish', 'publish', ['message', 'catalogs', 0, 'validity']],
    IntentFilters: ['discover', 'filter', ['message', 'intent', 'filters']],
    SpatialEntry: ['discover', 'words', ['message', 'intent', 'spatial', 0]],
  };
  /** Parents that the examples of requests lack. */
  const parents: Record<string, [at: (string | number)[], value: unknown]> = {
    TimePeriod: [['message', 'catalogs', 0, 'validity'], {}],
    Variant: [
      ['message', 'publishDirectives', 0, 'resourceDirectives'],
      [{ resourceId: 'voltpath:IND-1', extends: { masterResourceId: 'm' } }],
    ],
  };
  /** The trigger's directive has the members of the other; the hint is sent above; the others belong to answers. */
  const elsewhere =
    /^(?:TriggerDirective|CrawlHint|AnswerContext|Subscription|Error|DownloadManifest|CrawlLogEntry) /;
  const members = documents.flatMap((name) => {
    const { components }: OpenApiDocument = JSON.parse(readFileSync(`docs/api/${name}`, 'utf8'));
    return [...findExamples(components.schemas)];
  });
  const different = new Map(members.map((member) => [JSON.stringify(member), member] as const));

  it.each([...different.values()].filter(([at]) => !elsewhere.test(`${at.join(' ')} `)))(
    'are accepted where they are sent: %j %j',
    async ([schema = '', ...inside], value) => {
      const [id, name, place] = places[schema] ?? [];
      if (!id || !place) throw new Error(`nothing is sent that has a ${schema}`);
      const isItem = inside.at(-1) === 'items';
      const at = [...place, ...(isItem ? inside.slice(0, -1) : inside)];
      const body = bodiesOf(id).find((one) => one.name === name);
      const [missing, empty] = parents[schema] ?? [['context'], {}];
      const base = changed(body, missing, empty);
      const { context, message } = changed(base, at, isItem ? [value] : value) as Record<string, object>;
      const to = id === 'discover' ? the.network.discoveryUrl : undefined;
      const { status, body: answer } = await provider.send(actions[id], message, {
        ...(to && { to }),
        context: schema === 'Context' ? { ...context } : {},
      });
      expect([200, 202], JSON.stringify(answer)).toContain(status);
    },
  );
});

/** Each example with its schema and the names that lead to it. */
function* findExamples(inside: unknown, at: readonly string[] = []): Generator<[string[], unknown]> {
  if (typeof inside !== 'object' || inside === null) return;
  for (const [name, value] of Object.entries(inside)) {
    if (name === 'examples' && Array.isArray(value)) for (const one of value) yield [[...at], one];
    else yield* findExamples(value, name === 'properties' ? at : [...at, name]);
  }
}

describe('the examples of the console', () => {
  it('are bodies that it takes, one for every operation with a body', async () => {
    const { body } = await the.ask('/openapi.json');
    const { paths } = body as OpenApiDocument;
    for (const [path, { post }] of Object.entries(paths)) {
      if (!post?.requestBody || path.startsWith('/inbox')) continue;
      const examples = Object.values(post.requestBody.content['application/json'].examples ?? {});
      expect(examples.length, path).toBeGreaterThan(0);
      for (const { value } of examples) {
        const { status, text } = await the.ask(path, { body: value });
        // 401: the token of the example is not valid. 404 and 409: the example names something that is not here.
        expect([200, 204, 401, 404, 409], `${path} ${text}`).toContain(status);
      }
    }
  });
});

function keyOf(role: 'catalog' | 'discovery'): SigningKey {
  const { config } = the.network;
  return requireSigningKey(config.DATA_DIR, config.identities[role]);
}

function texts(query: ActionExamples['query'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}
