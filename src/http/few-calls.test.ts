import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedClient } from './guarded-client.ts';

const client = createGuardedClient({ allowPrivateAddresses: true, fewCalls: true });
const limits = { timeoutMs: 5_000, maxBytes: 1_000 };
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url === '/moved') return response.writeHead(302, { location: '/' }).end();
    if (request.url === '/packed')
      return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
    if (request.url === '/large') return response.end('x'.repeat(2_000));
    if (request.url === '/endless') return response.write('x');
    if (request.url === '/broken')
      return response.writeHead(200, { 'content-length': 9 }).write('x', () => response.destroy());
    const { 'content-length': length, authorization } = request.headers;
    return response.end(JSON.stringify({ method: request.method, length, authorization, body: `${body}` }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

describe('the client of a command', () => {
  it('sends a body whole or in pieces with its length, and reads the answer', async () => {
    for (const body of [Buffer.from('a body'), [Buffer.from('a '), Buffer.from('body')]]) {
      const headers = { authorization: 'Signature x' };
      const answer = await client.request(url, { ...limits, method: 'POST', headers, body });
      expect([answer.status, JSON.parse(answer.body.toString())]).toEqual([
        200,
        { method: 'POST', length: '6', authorization: 'Signature x', body: 'a body' },
      ]);
    }
  });

  it('follows redirects and unpacks bodies', async () => {
    expect((await client.request(`${url}/moved`, limits)).body.toString()).toContain('"GET"');
    expect((await client.request(`${url}/packed`, limits)).body.toString()).toBe('packed');
  });

  it('says why there is no usable answer', async () => {
    const kind = (path: string, timeoutMs = 5_000) =>
      client.request(path, { ...limits, timeoutMs }).catch((error) => error.kind);
    expect(await kind(`${url}/large`)).toBe('too-large');
    expect(await kind(`${url}/endless`, 200)).toBe('timeout');
    expect(await kind(`${url}/broken`)).toBe('unreachable');
    expect(await kind('http://127.0.0.1:9')).toBe('unreachable');
    expect(await kind('ftp://127.0.0.1')).toBe('bad-url');
  });
});
