import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generateSeed, Signpost } from './index.ts';

// A service that fails in all typical ways before it answers.

type Behaviour = (
  request: IncomingMessage,
) => { status: number; headers?: Record<string, string> } | 'hang-up';

describe('a request that could not be delivered', () => {
  const received: { body: Buffer; authorization: string }[] = [];
  let behaviours: Behaviour[] = [];
  let url: string;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    received.push({ body, authorization: request.headers.authorization ?? '' });
    const next = behaviours.shift()?.(request) ?? { status: 200 };
    if (next === 'hang-up') return void request.socket.destroy();
    const { context } = JSON.parse(body.toString());
    const answer = {
      context: { ...context, action: 'catalog/on_search' },
      message: { catalogs: [], pagination },
    };
    const nack = { message: { status: 'NACK', error: { code: 'NET_OVERLOADED', message: 'busy' } } };
    response.writeHead(next.status, next.headers).end(JSON.stringify(next.status === 200 ? answer : nack));
  });
  const pagination = { total: 0, limit: 20, offset: 0 };

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    received.length = 0;
  });
  afterAll(() => void server.close());

  const search = async (retryForMs?: number) => {
    const identity = { id: 'consumer.example.org', keyId: 'key-1', privateKey: generateSeed() };
    const client = new Signpost({
      ...identity,
      registry: `${url}/dedi`,
      catalogService: url,
      retryBaseMs: 5,
      retryForMs,
    });
    const found: unknown[] = [];
    for await (const one of client.search()) found.push(one);
    return found;
  };

  it('is sent again, the same bytes and messageId each time, until it is answered', async () => {
    behaviours = [
      () => 'hang-up',
      () => ({ status: 503 }),
      () => ({ status: 429, headers: { 'retry-after': '0' } }),
    ];
    expect(await search()).toEqual([]);
    expect(received).toHaveLength(4);
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
  });

  it('is given up when the time for repeats is over, and the last reason is thrown', async () => {
    behaviours = [() => ({ status: 503 })];
    await expect(search(0)).rejects.toMatchObject({
      code: 'NET_OVERLOADED',
      status: 503,
      messageId: expect.any(String),
    });
    expect(received).toHaveLength(1);
  });

  it('is not repeated where it was refused for good', async () => {
    behaviours = [() => ({ status: 400 })];
    await expect(search()).rejects.toMatchObject({ code: 'NET_OVERLOADED', status: 400 });
    expect(received).toHaveLength(1);
  });
});
