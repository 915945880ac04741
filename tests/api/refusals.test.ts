import { randomUUID } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForCallback } from '../../src/cli/send/callback.ts';
import { signTimes } from '../../src/delivery/bodiless-signature.ts';
import { operation as crawlHints } from '../../src/discovery/crawl-hints.ts';
import { type PlainOperation, plainRefusals } from '../../src/http/openapi.ts';
import { allRefusalExamples } from '../../src/http/openapi-refusals.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import type { RefusalExample } from '../../src/http/refusal-examples.ts';
import { type SignedService, signedRoute } from '../../src/http/signed-route.ts';
import { silentLogger } from '../../src/logger.ts';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { ProtocolError } from '../../src/protocol/errors.ts';
import { exampleIds, networkId } from '../../src/protocol/example-catalog.ts';
import { type ActionExamples, actionExamples } from '../../src/protocol/example-messages.ts';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { generateSeed, privateKeyFromSeed, type SigningKey } from '../../src/protocol/keys.ts';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { startPublisherThread } from '../../src/publisher/thread.ts';
import { addTriggerRoute, maxTriggerBodyBytes, triggerOperation } from '../../src/publisher/trigger.ts';
import { findTriggerToken } from '../../src/publisher/trigger-token.ts';
import { RegistryUnavailable } from '../../src/registry/client.ts';
import { requireSigningKey } from '../../src/registry/key-files.ts';
import { setKeyState } from '../../src/storage/registry/participants.ts';
import type { Actor, Body } from '../support/network/actor.ts';
import { startConsole, type TestConsole } from '../support/network/console.ts';
import { startPulling } from '../support/network/pulling.ts';
import {
  createParticipant,
  createService,
  findKeyAmong,
  listen,
  type Outgoing,
  type Sent,
  send,
} from '../support/network/signed-service.ts';
import { changed } from '../support/values/changed.ts';

// Every example of a refusal in the OpenAPI documents: the request of the example, changed as the example says, is sent to the role that receives it,
// which must answer with that status, code, path and text. Longer than our other tests: half of it is the table of how to cause each refusal.

const formType = 'application/x-www-form-urlencoded';

type ActionId = keyof typeof actions;

let the: TestConsole;
let provider: Actor;
let application: Actor;
let other: Actor;
let revoked: Actor;
let consumerUrl: string;
const closing: (() => Promise<unknown>)[] = [];
/** Subscriptions of this network, in place of those in the examples. */
const subscriptions = new Map<string, string>();

beforeAll(async () => {
  the = await startConsole({
    ROLES: 'registry,catalog,discovery,publisher,console',
    NETWORK_MEMBERSHIP: 'enforce',
  });
  const { network } = the;
  closing.push(() => network.close());
  [provider, application, other, revoked] = (await Promise.all(
    ['refused-provider', 'refused-application', 'other', 'revoked'].map((name) => network.actor(name)),
  )) as [Actor, Actor, Actor, Actor];
  const { namespace, registryName } = splitIdentity(`${revoked.id}/${network.config.REGISTRY_NAME}`);
  await setKeyState(network.database, { namespace, registryName }, 'revoked');
  subscriptions.set(exampleIds.subscription, await subscribe(application, [networkId]));
  subscriptions.set(exampleIds.othersSubscription, await subscribe(other, [networkId]));
  const inactive = await subscribe(application, ['another.example/network']);
  await application.send(actions.unsubscribe, undefined, { query: { subscriptionId: inactive } });
  subscriptions.set(exampleIds.inactiveSubscription, inactive);
  consumerUrl = await startConsumer();
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

describe.each(Object.entries(actions))('the examples of what %s refuses', (name, action: Action) => {
  const id = name as ActionId;
  const sent = allRefusalExamples(id, action).filter(({ error }) => !isAccident(error));

  it.each(sent.map((example) => [example.error.code, example.summary, example] as const))(
    'are what is answered: %s, %s',
    async (_code, _summary, example) => expectAnswered(await sendWrong(id, action, example), example),
  );
});

/** Too many requests, an internal error, an unreachable registry, a search that takes too long: a healthy network does not produce these. */
const isAccident = ({ status }: ProtocolError) => [429, 500, 503, 504].includes(status);

async function sendWrong(id: ActionId, action: Action, example: RefusalExample): Promise<Sent> {
  const special = specialWays[`${id} ${example.name}`] ?? specialWays[example.name];
  if (special) return special(id, action, example);
  return sendSigned(id, action, prepare(id, action, example));
}

/** Refusals that take more than one changed request of the usual sender. */
const specialWays: Record<string, (id: ActionId, action: Action, example: RefusalExample) => Promise<Sent>> =
  {
    unsigned: (id, action) =>
      sendSigned(id, action, { ...prepare(id, action), authorization: () => undefined }),
    invalid: (id, action) => {
      const key = { ...signerOf(id).key, privateKey: privateKeyFromSeed(generateSeed()) };
      return sendSigned(id, action, { ...prepare(id, action), key });
    },
    unknownKey: (id, action) =>
      sendSigned(id, action, { ...prepare(id, action), key: { ...signerOf(id).key, recordId: 'key-9' } }),
    revoked: (id, action) => sendSigned(id, action, { ...prepare(id, action), key: revoked.key }),
    unknownSubscriber: (id, action) => {
      const key = { ...signerOf(id).key, subscriberId: 'nobody.signpost.test' };
      return sendSigned(id, action, { ...prepare(id, action), key });
    },
    large: (id, action) => {
      const { BODY_SIZE_LIMIT, BULK_BODY_SIZE_LIMIT } = the.network.config;
      const limit = action.bodyLimit === 'bulk' ? BULK_BODY_SIZE_LIMIT : BODY_SIZE_LIMIT;
      return sendSigned(id, action, { ...prepare(id, action), announcedBytes: limit + 1 });
    },
    async repeated(id, action, example) {
      const first = prepare(id, action);
      expect((await sendSigned(id, action, first)).status).toBeLessThan(300);
      const second = changed(JSON.parse(first.body), example.change?.at ?? [], example.change?.value);
      return sendSigned(id, action, { ...first, body: JSON.stringify(second) });
    },
    async 'subscribe capacity'(id, action) {
      const greedy = await the.network.actor('greedy');
      const names = (run: number) =>
        Array.from({ length: 1_000 }, (_, each) => `n${run}-${each}.example/net`);
      for (let run = 0; run < 10; run++) await subscribe(greedy, names(run));
      return sendSigned(id, action, { ...prepare(id, action), key: greedy.key });
    },
    async 'push unwanted'(id, action) {
      const request = prepare(id, action);
      const context = { ...JSON.parse(request.body).context, bppId: other.id, bppUri: other.url };
      const body = JSON.stringify({ ...JSON.parse(request.body), context });
      return sendSigned(id, action, { ...request, body, key: other.key });
    },
    async 'onPull stranger'(id, action) {
      const pulling = await startPulling();
      try {
        let answer: Sent | undefined;
        pulling.answerWith(async (pull) => {
          const request = prepare(id, action);
          const { messageId } = pull.body.context;
          const document = JSON.parse(request.body);
          const { requestDigest: _, ...context } = document.context;
          const body = JSON.stringify({ ...document, context: { ...context, messageId } });
          answer = await sendSigned(id, action, {
            ...{ ...request, body, answering: pull.signature },
            ...{ to: pulling.discovery.url, key: pulling.stranger.key },
          });
          await pulling.service.answer(pull, { status: 'COMPLETED', catalogs: [] });
        });
        await pulling.discovery.pull();
        if (!answer) throw new Error('the discovery service did not pull');
        return answer;
      } finally {
        await pulling.close();
      }
    },
  };

describe('the examples of what a signed route answers for no fault of the request', () => {
  const sender = createParticipant('provider.example.org');
  const self = createParticipant('service.example.org');
  const accidents: Record<string, Partial<SignedService>> = {
    // Allows less than one request.
    often: { rateLimits: createRateLimits(0.01) },
    internal: {},
    overloaded: {},
    downstream: {
      findKey: async () => {
        throw new RegistryUnavailable('The registry cannot be reached.');
      },
    },
  };
  const admission = {
    admit() {
      throw new ProtocolError('NET_OVERLOADED', 'The service is overloaded. Try again later.');
    },
    close() {},
  };

  it.each(Object.keys(accidents))('are what is answered by every action: %s', async (name) => {
    const service = createService(self, { findKey: findKeyAmong([sender]), ...accidents[name] });
    const { server, url } = await listen(
      (routes) => {
        for (const action of Object.values(actions))
          signedRoute(routes, service, action, async () => {
            throw new Error('a fault of the service');
          });
      },
      name === 'overloaded' ? { admission } : {},
    );
    for (const [id, action] of Object.entries(actions) as [ActionId, Action][]) {
      const example = allRefusalExamples(id, action).find((one) => one.name === name);
      const request = prepare(id, action);
      const document = request.body && JSON.parse(request.body);
      if (action.caller) document.context[`${action.caller}Id`] = sender.subscriberId;
      const body = document && JSON.stringify(document);
      expectAnswered(await sendSigned(id, action, { ...request, body, to: url, key: sender }), example);
    }
    await server.close();
  });
});

describe('the examples of what POST /crawl-hints refuses', () => {
  const refusals = plainRefusals(crawlHints);

  it.each(refusals.map((example) => [example.error.code, example.summary, example] as const))(
    'are what is answered: %s, %s',
    async (_code, _summary, example) => {
      const to = `${the.network.discoveryUrl}/crawl-hints`;
      const hint = plainBody(crawlHints, example).replace(
        'provider.example.org',
        the.network.config.identities.publisher.id,
      );
      if (example.name === 'often') await sendPlain(to, hint);
      const options = {
        large: { body: JSON.stringify({ nodeId: 'x'.repeat(5_000) }) },
        mediaType: { type: formType },
      };
      const { body = hint, type } =
        (options as Record<string, { body?: string; type?: string }>)[example.name] ?? {};
      expectAnswered(await sendPlain(to, body, { type }), example);
    },
  );
});

describe('the examples of what the trigger refuses', () => {
  const refusals = plainRefusals(triggerOperation);

  it.each(refusals.map((example) => [example.error.code, example.summary, example] as const))(
    'are what is answered: %s, %s',
    async (_code, _summary, example) => {
      const { config } = the.network;
      const base = example.name === 'overloaded' ? await startFullTrigger() : config.triggerUrl;
      const { at = [], value } = example.change ?? {};
      const search = at[0] === 'query' ? `?${new URLSearchParams({ [String(at[1])]: String(value) })}` : '';
      const token = example.name === 'invalid' ? 'another' : findTriggerToken(config);
      const headers = {
        ...(example.name !== 'unsigned' && { authorization: `Bearer ${token}` }),
        ...(example.name === 'browser' && { origin: 'https://shop.example.org' }),
        ...(example.name === 'large' && { 'content-length': String(maxTriggerBodyBytes + 1) }),
      };
      const type = example.name === 'mediaType' ? formType : undefined;
      const body = plainBody(triggerOperation, example);
      expectAnswered(await sendPlain(`${base}/catalog/publish${search}`, body, { type, headers }), example);
    },
  );
});

/** A trigger whose publisher has no space left. */
async function startFullTrigger(): Promise<string> {
  const { config } = the.network;
  const thread = startPublisherThread(config, silentLogger(), { maxWaitingBytes: 0 });
  const { server, url } = await listen((routes) =>
    addTriggerRoute(routes, { config, token: undefined, publish: thread.publish }),
  );
  closing.push(() => server.close(), thread.close);
  return url;
}

/** The consumer that `signpost discover` and `signpost send --wait` start. */
async function startConsumer(): Promise<string> {
  const { registry, config } = the.network;
  const listener = await listenForCallback({
    address: { host: '127.0.0.1', port: 0 },
    draft: { url: '', action: actions.discover },
    ...{ self: application.key, registry, config, onRefused: () => undefined },
  });
  closing.push(listener.close);
  return listener.url;
}

async function subscribe(actor: Actor, networkIds: string[]): Promise<string> {
  const { body } = await actor.send(actions.subscribe, { subscription: { networkIds } });
  return body.message.subscriptions[0].subscriptionId;
}

interface Prepared {
  body: string;
  query: Record<string, string>;
  to?: string;
  key?: SigningKey;
  answering?: string;
  /** Announced but never sent. */
  announcedBytes?: number;
  authorization?: (usual: string) => string | undefined;
}

/** The request of the example as its sender in this network would send it, with one value changed. */
function prepare(id: ActionId, action: Action, { change }: Partial<RefusalExample> = {}): Prepared {
  const examples: ActionExamples = actionExamples[id];
  const { key, url } = signerOf(id);
  const [body] = Object.values(examples.bodies);
  const own = action.caller ? { [`${action.caller}Id`]: key.subscriberId, [`${action.caller}Uri`]: url } : {};
  const { context, message } = (body?.value ?? {}) as Body;
  // An action may get callers that it does not require; they must then be correct.
  const { bapId: _bapId, bapUri: _bapUri, ...bare } = context ?? {};
  const parties = action.caller || action.kind === 'callback' ? context : bare;
  const document = body && { context: { ...parties, messageId: randomUUID(), ...own }, message };
  const query = id === 'crawlLog' ? { ...examples.query, nodeId: key.subscriberId } : (examples.query ?? {});
  const { at, value } = change ?? {};
  if (at?.length === 0) return { body: String(value), query: {} };
  const whole = at ? (changed({ ...document, query }, at, value) as Body) : { ...document, query };
  const { query: wrongQuery = {}, ...wrongBody } = JSON.parse(withRealIds(JSON.stringify(whole)));
  return { body: document ? JSON.stringify(wrongBody) : '', query: wrongQuery };
}

function withRealIds(text: string): string {
  return [...subscriptions].reduce((done, [example, real]) => done.replaceAll(example, real), text);
}

async function sendSigned(id: ActionId, action: Action, request: Prepared): Promise<Sent> {
  const { body, query, announcedBytes, answering } = request;
  const times = signTimes(action.method, new Date());
  const bytes = Buffer.from(body);
  const usual = signRequest(request.key ?? signerOf(id).key, bytes, { ...times, answering });
  const authorization = request.authorization ? request.authorization(usual) : usual;
  const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
  return send(`${request.to ?? addressOf(id)}${action.path}${search}`, {
    method: action.method,
    headers: { ...(authorization && { authorization }), ...(body && { 'content-type': 'application/json' }) },
    ...(announcedBytes ? { write: announce(announcedBytes) } : { body }),
  });
}

const announce = (bytes: number) => (request: ClientRequest) => {
  request.setHeader('content-length', bytes);
  request.flushHeaders();
};

function plainBody({ examples }: PlainOperation, { change }: RefusalExample): string {
  const [body] = Object.values(examples?.bodies ?? {});
  if (!change || change.at[0] === 'query') return JSON.stringify(body?.value);
  if (change.at.length === 0) return String(change.value);
  return JSON.stringify(changed(body?.value, change.at, change.value));
}

function sendPlain(
  url: string,
  body: string,
  { type = 'application/json', headers = {} }: { type?: string; headers?: Record<string, string> } = {},
): Promise<Sent> {
  const { 'content-length': announced, ...others } = headers;
  const outgoing: Outgoing = { headers: { 'content-type': type, ...others } };
  return send(url, { ...outgoing, ...(announced ? { write: announce(Number(announced)) } : { body }) });
}

function expectAnswered({ status, json }: Sent, example: RefusalExample | undefined): void {
  const { code, path, message } = example?.error ?? {};
  const error = json.message?.error;
  expect([status, error?.code, error?.details?.path]).toEqual([example?.error.status, code, path]);
  // Texts that name participants have other names here.
  if (!message?.includes('example.org') && !message?.includes('/var/lib'))
    expect(error?.message).toBe(message);
}

/** The sender of an action. */
function signerOf(id: ActionId): { key: SigningKey; url: string } {
  const { config } = the.network;
  const role = { push: 'catalog', onPublish: 'catalog', onPull: 'catalog', onDiscover: 'discovery' } as const;
  if (id in role) {
    const identity = config.identities[role[id as keyof typeof role]];
    return { key: requireSigningKey(config.DATA_DIR, identity), url: identity.url };
  }
  return id === 'publish' || id === 'crawlLog' ? provider : application;
}

/** The receiver of an action. */
function addressOf(id: ActionId): string {
  const { config, catalogUrl, discoveryUrl } = the.network;
  if (id === 'onPublish') return config.identities.publisher.url;
  if (id === 'onDiscover') return consumerUrl;
  return ['discover', 'push', 'onPull', 'crawlLog'].includes(id) ? discoveryUrl : catalogUrl;
}
