import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actions } from '../../src/protocol/actions.ts';
import { identityOf } from '../../src/protocol/identity.ts';
import { signRequest } from '../../src/protocol/request-signature.ts';
import { insertSubmission, lockLane } from '../../src/storage/catalog/submissions.ts';
import type { Actor } from '../support/network/actor.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { expectNobodyHeldUp, mainThreadCost, rounds } from '../support/processes/blocked.ts';
import { until } from '../support/time.ts';

// The largest allowed publish, and other participants: once it is accepted, its processing never blocks the process for long. The senders and
// receivers in this process must not be busy meanwhile, so they keep raw bytes. The longest block is compared with that of only parsing and writing
// the same bytes in place.

const largestBytes = 5 * 1024 * 1024;

let network: TestNetwork;
let provider: Actor;
let subscriber: Actor;
let subscriptionId: string;
let drain: Server;
/** The number of requests per path. */
const arrived = new Map<string, number>();

beforeAll(async () => {
  network = await startNetwork();
  provider = await network.actor('provider');
  drain = createServer((request, response) => {
    request.resume().once('end', () => {
      arrived.set(request.url ?? '', arrivals(request.url) + 1);
      response.end('{"message":{"status":"ACK"}}');
    });
  });
  await new Promise<void>((resolve) => drain.listen(0, '127.0.0.1', resolve));
  const { port } = drain.address() as AddressInfo;
  subscriber = await network.actor('subscriber', { url: `http://127.0.0.1:${port}` });
  const { body } = await subscriber.send(actions.subscribe, {
    subscription: { networkIds: [defaultNetwork] },
  });
  subscriptionId = body.message.subscriptions[0].subscriptionId;
});
afterAll(async () => {
  await network.close();
  drain.close();
});

/** One resource of 400,000 members, a little below the limit: as text, so that the test itself holds no large object. */
const resource = `{"id":"only","descriptor":{"name":"Only"},${Array.from({ length: 400_000 }, (_, index) => `"m${index}":1`).join()}}`;
/** How long the event loop is blocked when it is parsed and written in place. */
const inPlaceMs: number[] = [];

describe('the largest publish', () => {
  it('is processed and pushed without holding others up', async () => {
    const blocks: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const message = `{"catalogs":[{"id":"large","descriptor":{"name":"Round ${round}"},"provider":{"id":"p","descriptor":{"name":"P"}},"resources":[${resource}]}]}`;
      expect(message.length).toBeGreaterThan(0.8 * largestBytes);
      const body = Buffer.from(message);
      inPlaceMs.push((await mainThreadCost(async () => JSON.stringify(JSON.parse(message)))).longestMs);
      collectGarbage();
      blocks.push((await mainThreadCost(() => process(body))).longestMs);
    }
    expectNobodyHeldUp(blocks, inPlaceMs);
  }, 300_000);

  it.each([
    ['pulled', pull],
    ['searched', search],
  ])(
    'is %s without holding others up',
    async (_done, ask) => {
      const blocks: number[] = [];
      for (let round = 0; round < rounds; round += 1) blocks.push((await mainThreadCost(ask)).longestMs);
      expectNobodyHeldUp(blocks, inPlaceMs);
    },
    300_000,
  );
});

/** From its acceptance to its push. */
async function process(message: Buffer): Promise<void> {
  const pushed = arrivals(actions.push.path);
  const messageId = randomUUID();
  const publisher = identityOf(provider.id, network.config.REGISTRY_NAME);
  const context = {
    ...{ version: '2.0.0', action: 'catalog/publish', messageId, transactionId: messageId },
    ...{ timestamp: new Date().toISOString(), bppId: provider.id, bppUri: provider.url },
  };
  await network.database.transaction(async (tx) => {
    await lockLane(tx, publisher);
    await insertSubmission(
      tx,
      {
        publisher,
        recordSubscriberId: provider.id,
        networkMemberships: [],
        messageId,
        acceptedAt: new Date(),
        context: JSON.stringify(context),
        body: Buffer.concat([
          Buffer.from(`{"context":${JSON.stringify(context)},"message":`),
          message,
          Buffer.from('}'),
        ]),
        digest: 'BLAKE-512=unused',
        requestSignature: 'unused',
        callbackUrl: `${drainUrl()}/catalog/on_publish`,
      },
      { rows: 10, bytes: 10 * largestBytes },
    );
  });
  await until(() => arrivals(actions.push.path) > pushed, 'the push', 120_000);
}

async function pull(): Promise<void> {
  const answered = arrivals(actions.onPull.path);
  const context = { bapUri: drainUrl() };
  const { status } = await subscriber.send(actions.pull, { subscriptionId, mode: 'FULL' }, { context });
  expect(status).toBe(200);
  await until(() => arrivals(actions.onPull.path) > answered, 'the answer to the pull', 120_000);
}

function arrivals(path = ''): number {
  return arrived.get(path) ?? 0;
}

function drainUrl(): string {
  return `http://127.0.0.1:${(drain.address() as AddressInfo).port}`;
}

async function search(): Promise<void> {
  const messageId = randomUUID();
  const body = Buffer.from(
    JSON.stringify({
      context: {
        ...{ version: '2.0.0', action: 'catalog/search', messageId, transactionId: messageId },
        timestamp: new Date().toISOString(),
      },
      message: { filters: { type: 'REGULAR' } },
    }),
  );
  const authorization = signRequest(subscriber.key, body, { now: new Date() });
  const answer = await fetch(`${network.catalogUrl}${actions.search.path}`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  expect(answer.status).toBe(200);
  for await (const _ of answer.body ?? []);
}

function collectGarbage(): void {
  setFlagsFromString('--expose_gc');
  runInNewContext('gc')();
}
