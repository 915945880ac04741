import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../src/http/openapi.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { parseEnvelope } from '../../src/protocol/envelope.ts';
import { type ActionExamples, actionExamples } from '../../src/protocol/example-messages.ts';
import type { SigningKey } from '../../src/protocol/keys.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import type { Actor, Exchange, SendOptions } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { until } from '../support/time.ts';

// The examples of the OpenAPI documents, sent to a network: every signed request and callback, and the bodies that the console takes.
// Refusals are in api-refusals.test.ts.
// Ids, addresses and times of the context are those of whoever sends it.

let the: TestConsole;
let provider: Actor;
let application: Actor;
let subscriptionId = '';

beforeAll(async () => {
  the = await startConsole();
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

describe('the examples of callbacks', () => {
  const callbacks = (['onPublish', 'onPull', 'onDiscover'] as const).flatMap((id) =>
    bodiesOf(id).map(({ name, context, message }) => [id, name, { context, message }] as const),
  );

  it.each(callbacks)('are read, and acknowledged by who receives them: %s %s', async (id, _name, body) => {
    const action: Action = actions[id];
    expect(parseEnvelope(body, action, new Date())).toEqual(body);
    const to = `${the.network.config.consoleUrl}/inbox`;
    const key = keyOf(id === 'onDiscover' ? 'discovery' : 'catalog');
    const answer = await provider.send(action, undefined, {
      ...{ to, key, raw: Buffer.from(JSON.stringify(body)) },
    });
    expect(answer).toMatchObject({ status: 200, body: { message: { status: 'ACK' } } });
  });
});

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
        // 401: the example of a token is nobody's. 404 and 409: what it names is not here.
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
