import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gate } from '../../tests/support/gate.ts';
import { closeAfterEach, limits, open, serve } from '../../tests/support/network/guarded-calls.ts';
import { until } from '../../tests/support/time.ts';
import { createConnections } from './connections-to-origins.ts';

closeAfterEach();

describe('connections to an origin', () => {
  it('are as many as there are requests at a time, and are used again', async () => {
    const sockets = new Set<Socket>();
    let answers = gate();
    let waiting = 0;
    const { url } = await serve(async (request, response) => {
      sockets.add(request.socket);
      waiting += 1;
      await answers.passed;
      response.end();
    });
    const client = open();
    const together = [1, 2, 3].map(() => client.request(url, limits));
    await until(() => waiting === 3, 'three requests at a time');
    expect(sockets.size).toBe(3);
    answers.open();
    await Promise.all(together);
    for (let more = 0; more < 3; more += 1) await client.request(url, limits);
    answers = gate();
    waiting = 0;
    const again = [1, 2, 3].map(() => client.request(url, limits));
    await until(() => waiting === 3, 'three requests at a time once more');
    answers.open();
    await Promise.all(again);
    expect(sockets.size).toBe(3);
  });

  it('have one request at a time, also when there are more requests than there may be connections', async () => {
    const busy = new Map<Socket, number>();
    let most = 0;
    const { url } = await serve((request, response) => {
      const count = (busy.get(request.socket) ?? 0) + 1;
      busy.set(request.socket, count);
      most = Math.max(most, count);
      setImmediate(() => {
        busy.set(request.socket, (busy.get(request.socket) ?? 0) - 1);
        response.end('done');
      });
    });
    const connections = createConnections(2, {});
    const ask = async () => {
      const { agent, leave } = connections.take(url);
      const { body } = await agent().request({ origin: url, path: '/', method: 'GET' });
      return body.text().finally(leave);
    };
    expect(await Promise.all(Array.from({ length: 9 }, ask))).toEqual(Array(9).fill('done'));
    expect({ sockets: busy.size, most }).toEqual({ sockets: 2, most: 1 });
    await connections.close();
  });
});
