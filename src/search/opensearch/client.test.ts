import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../config.ts';
import { connectOpenSearch, RefusedByOpenSearch } from './client.ts';
import { writeBulk } from './indexes.ts';

const closing: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startNode(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    return once(server.close(), 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connect(...nodes: RequestListener[]) {
  const urls = await Promise.all(nodes.map(startNode));
  const client = connectOpenSearch(readConfig({ SEARCH_INDEX: 'opensearch', OPENSEARCH_URL: urls.join() }));
  closing.unshift(() => client.close());
  return client;
}

const answering =
  (status: number, body: object = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(JSON.stringify(body));
const silent: RequestListener = () => undefined;

describe('a request to OpenSearch', () => {
  it.each([
    ['does not answer', silent],
    ['has lost a shard', answering(500)],
    ['is overloaded', answering(429)],
  ])('is answered by another node if one %s', async (_what, broken) => {
    const client = await connect(broken, answering(200, { ok: true }));
    for (let each = 0; each < 3; each++)
      expect(await client.ask('/', { timeoutMs: 1_000 })).toEqual({ ok: true });
  });

  it('that is wrong is not repeated', async () => {
    const client = await connect(answering(400, { error: 'wrong' }), answering(400, { error: 'wrong' }));
    await expect(client.ask('/')).rejects.toThrow(RefusedByOpenSearch);
  });
});

describe('documents in bulk', () => {
  it('go without those that are too long for a request', async () => {
    const received: number[] = [];
    const client = await connect((request, response) => {
      let length = 0;
      request.on('data', (chunk) => {
        length += chunk.length;
      });
      request.on('end', () => {
        received.push(length);
        const isTooLong = length > 5_000_000;
        response.writeHead(isTooLong ? 413 : 200).end(isTooLong ? '' : '{"errors":false,"items":[]}');
      });
    });
    const itemOf = (id: number, length: number) => `{"index":{"_id":"${id}"}}\n"${'x'.repeat(length)}"`;
    const items = [itemOf(1, 10), itemOf(2, 6_000_000), itemOf(3, 10), itemOf(4, 10)];
    const refused = await writeBulk(client, 'test-1', items);
    expect(refused).toEqual([expect.stringMatching(/^\{"index":\{"_id":"2"\}\}.*413/s)]);
    expect(received.length).toBe(3);
  });
});
