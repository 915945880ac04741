import { afterEach, describe, expect, it } from 'vitest';
import {
  bodyOf,
  closeAll,
  consumer,
  provider,
  publish,
  start,
} from '../../tests/support/network/signed-actions.ts';
import { sendSigned } from '../../tests/support/network/signed-service.ts';
import { ack } from '../protocol/acknowledgement.ts';
import { actions } from '../protocol/actions.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { AlreadyRemembered, type RememberedAnswer, type RequestKey } from '../protocol/remembered.ts';
import type { Occurrence } from './answer-once.ts';
import type { VerifiedRequest } from './verified-request.ts';

afterEach(closeAll);

describe('a repeated request', () => {
  it('gets the same answer, and nothing is done twice', async () => {
    const { url, memory, calls } = await startRemembering();
    const body = bodyOf(actions.publish);
    const first = await publish(url, { body });
    const second = await publish(url, { body });
    expect(calls()).toBe(1);
    expect(memory.size).toBe(1);
    expect(second.text).toBe(first.text);
    expect([first.status, second.status]).toEqual([200, 200]);
  });

  it('is one at any spelling of the address, which nothing signs', async () => {
    const { url, calls } = await startRemembering();
    const body = bodyOf(actions.publish);
    await publish(url, { body });
    await sendSigned(`${url}/catalog/publish?again=1`, { from: provider, body });
    await sendSigned(`${url}/catalog/%70ublish`, { from: provider, body });
    expect(calls()).toBe(1);
  });

  it('at an address that says something else is another request', async () => {
    const keys: (RequestKey | undefined)[] = [];
    const { url } = await start(actions.subscribe, {}, async ({ key }) => {
      keys.push(key);
      return { status: 200, body: {} };
    });
    const body = bodyOf(actions.subscribe, {}, { subscription: { networkIds: ['example.org/retail'] } });
    const id = '7f9d1b7e-5a6e-4b3a-9a51-0d9c1f6f2f11';
    for (const query of ['', `?subscriptionId=${id}`, `?x=1&subscriptionId=${id}`])
      await sendSigned(`${url}/catalog/subscription${query}`, { from: consumer, body });
    expect(keys.map((key) => key?.url)).toEqual([
      '/catalog/subscription',
      `/catalog/subscription?subscriptionId=${id}`,
      `/catalog/subscription?subscriptionId=${id}`,
    ]);
  });

  it('tells the memory until when it may come again', async () => {
    const told: Occurrence[] = [];
    const recall = async (_key: RequestKey, occurrence: Occurrence) => void told.push(occurrence);
    const { url } = await start(actions.publish, { recall }, async () => ({ status: 200, body: {} }));
    const now = new Date(Math.floor(Date.now() / 1000) * 1000);
    await publish(url, { now, lifetimeSeconds: 90 });
    expect(told).toMatchObject([
      { digest: expect.stringMatching(/^BLAKE-512=/), expires: new Date(now.getTime() + 90_000) },
    ]);
  });

  it('that loses a race gets the answer of the winner', async () => {
    const memory = new Map<string, RememberedAnswer>();
    const recall = async (key: RequestKey) => memory.get(JSON.stringify(key));
    const { url } = await start(actions.publish, { recall }, async ({ key, digest }) => {
      memory.set(JSON.stringify(key), {
        digest,
        status: 200,
        body: '{"message":{"status":"ACK","messageId":"winner"}}',
      });
      throw new AlreadyRemembered();
    });
    expect((await publish(url)).json.message?.messageId).toBe('winner');
  });

  it('that loses a race against an answer that cannot be found is told to try again', async () => {
    const { url } = await start(actions.publish, { recall: async () => undefined }, async () => {
      throw new AlreadyRemembered();
    });
    const answer = await publish(url);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  });

  it('of a read is evaluated again', async () => {
    let calls = 0;
    const recall = async () => ({ digest: '', status: 200, body: '{}' });
    const { url } = await start(actions.search, { recall }, async () => {
      calls += 1;
      return { status: 200, body: {} };
    });
    const body = bodyOf(actions.search);
    await sendSigned(`${url}/catalog/search`, { from: consumer, body });
    await sendSigned(`${url}/catalog/search`, { from: consumer, body });
    expect(calls).toBe(2);
  });
});

describe('a request whose handler writes last', () => {
  it('is looked for in the memory only when it came here before', async () => {
    const { url, recalls, calls } = await startRemembering({ writesLast: true });
    const body = bodyOf(actions.publish);
    const first = await publish(url, { body });
    expect([recalls(), calls()]).toEqual([0, 1]);
    const second = await publish(url, { body });
    expect([recalls(), calls()]).toEqual([1, 1]);
    expect(second.text).toBe(first.text);
  });

  it('gets the answer that it got from another process', async () => {
    const elsewhere = await startRemembering({ writesLast: true });
    const here = await startRemembering({ writesLast: true, memory: elsewhere.memory });
    const body = bodyOf(actions.publish);
    const first = await publish(elsewhere.url, { body });
    expect((await publish(here.url, { body })).text).toBe(first.text);
  });

  it('gets the answer that it got from another process also where it would be refused now', async () => {
    const { url, memory } = await startRemembering({ writesLast: true });
    const body = bodyOf(actions.publish);
    const first = await publish(url, { body });
    const recall = async (key: RequestKey) => memory.get(JSON.stringify(key));
    const refuse = () => Promise.reject(new ProtocolError('BIZ_GENERIC_ERROR', 'Not any more.'));
    const refusing = await start(actions.publish, { recall }, refuse, { writesLast: true });
    expect((await publish(refusing.url, { body })).text).toBe(first.text);
    expect((await publish(refusing.url)).json.message?.error?.code).toBe('BIZ_GENERIC_ERROR');
  });

  it('CTX_MESSAGE_ID_DUPLICATE: is refused when another one has its messageId', async () => {
    const elsewhere = await startRemembering({ writesLast: true });
    const here = await startRemembering({ writesLast: true, memory: elsewhere.memory });
    const context = { messageId: '0b1e2f3a-0000-4000-8000-000000000000' };
    await publish(elsewhere.url, { body: bodyOf(actions.publish, context) });
    const other = { ...context, transactionId: '0b1e2f3a-0000-4000-8000-000000000001' };
    const answer = await publish(here.url, { body: bodyOf(actions.publish, other) });
    expect(answer.json.message?.error?.code).toBe('CTX_MESSAGE_ID_DUPLICATE');
  });
});

async function startRemembering({
  memory = new Map<string, RememberedAnswer>(),
  writesLast = false,
}: {
  memory?: Map<string, RememberedAnswer>;
  writesLast?: boolean;
} = {}) {
  let [calls, recalls] = [0, 0];
  const recall = async (key: RequestKey) => {
    recalls += 1;
    return memory.get(JSON.stringify(key));
  };
  const remember = async ({ context, key, digest }: VerifiedRequest<typeof actions.publish>) => {
    calls += 1;
    const body = JSON.stringify({ ...ack(context.messageId), call: calls });
    if (memory.has(JSON.stringify(key))) throw new AlreadyRemembered();
    memory.set(JSON.stringify(key), { digest, status: 200, body });
    return { status: 200, body };
  };
  const running = await start(actions.publish, { recall }, remember, { writesLast });
  return { ...running, memory, calls: () => calls, recalls: () => recalls };
}
