import { request } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpEndpoint, serveHttp } from './http.ts';

const token = 'a-token-of-a-test';
let endpoint: HttpEndpoint | undefined;
afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
});

async function start({ host = '127.0.0.1', isLocal = true, proxy = '' } = {}): Promise<URL> {
  const createServer = () => new Server({ name: 'test', version: '1' }, { capabilities: {} });
  const isProxy = (address: string) => address === proxy;
  endpoint = await serveHttp({ host, port: 0, token, isLocal, isProxy, createServer });
  const url = new URL(endpoint.url);
  url.hostname = '127.0.0.1';
  return url;
}

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** `fetch` does not allow setting Host. */
function post(
  url: URL,
  headers: Record<string, string> = {},
  { method = 'POST', path = '/mcp', body = ping } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    };
    request({ host: url.hostname, port: url.port, method, path, headers: all }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(method === 'POST' ? body : undefined);
  });
}

/** 800 calls in eight batches. A refused batch may be cut off before its answer is read, and then has no status. */
async function postMany(url: URL, headers: Record<string, string> = {}): Promise<(number | undefined)[]> {
  const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  const batch = { body: JSON.stringify(calls) };
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => post(url, headers, batch)));
  return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined));
}

describe('the MCP server over HTTP on a loopback address', () => {
  it.each<[string, Record<string, string>, number]>([
    ['a program of this machine', {}, 200],
    ['a page of this machine', { host: 'localhost:4008', origin: 'http://localhost:3000' }, 200],
    ['a name that leads here', { host: 'evil.example' }, 403],
    ['a page of a site', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['a proxy, without the token', { 'x-forwarded-for': '203.0.113.5', host: 'mcp.example.org' }, 401],
    [
      'a proxy, with the token',
      { 'x-forwarded-for': '203.0.113.5', host: 'mcp.example.org', authorization: `Bearer ${token}` },
      200,
    ],
  ])('answers %s accordingly', async (_, headers, status) => {
    expect(await post(await start(), headers)).toBe(status);
  });
});

describe('the MCP server over HTTP that is not local', () => {
  it.each<[string, Record<string, string>, number]>([
    ['nobody of this machine without the token, who may be a proxy', { host: '127.0.0.1' }, 401],
    ['nobody without the token', {}, 401],
    ['nobody with another token', { authorization: 'Bearer another' }, 401],
    ['who has the token', { authorization: `Bearer ${token}` }, 200],
    [
      'a page of the same host, with the token',
      { host: 'mcp.example.org', origin: 'https://mcp.example.org', authorization: `Bearer ${token}` },
      200,
    ],
    [
      'no page of another host',
      { host: 'mcp.example.org', origin: 'https://evil.example', authorization: `Bearer ${token}` },
      403,
    ],
  ])('answers %s', async (_, headers, status) => {
    expect(await post(await start({ host: '0.0.0.0', isLocal: false }), headers)).toBe(status);
  });
});

describe('the MCP server over HTTP', () => {
  it('takes POST at /mcp alone, of a bounded length', async () => {
    const url = await start();
    expect(await post(url, {}, { method: 'GET' })).toBe(405);
    expect(await post(url, {}, { path: '/' })).toBe(404);
    expect(await post(url, {}, { body: '{' })).toBe(400);
    expect(await post(url, {}, { body: JSON.stringify('x'.repeat(300_000)) })).toBe(413);
  });

  it('limits the calls of one caller, each of a batch, and does not count strangers', async () => {
    const url = await start();
    const strangers = Array.from({ length: 300 }, () => post(url, { host: 'evil.example' }));
    expect(new Set(await Promise.all(strangers))).toEqual(new Set([403]));
    const served = (await postMany(url)).filter((status) => status === 200);
    expect(served.length).toBeGreaterThanOrEqual(2);
    expect(served.length).toBeLessThan(8);
  });

  it('counts callers behind a trusted proxy one by one', async () => {
    const url = await start({ isLocal: false, proxy: '127.0.0.1' });
    const as = (address: string) => ({
      'x-forwarded-for': `198.51.100.9, ${address}`,
      authorization: `Bearer ${token}`,
    });
    const busy = await postMany(url, as('203.0.113.5'));
    expect(busy.filter((status) => status === 200).length).toBeLessThan(8);
    expect(await post(url, as('203.0.113.6'))).toBe(200);
  });
});
