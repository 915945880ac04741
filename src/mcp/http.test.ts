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

async function start(host = '127.0.0.1'): Promise<URL> {
  const createServer = () => new Server({ name: 'test', version: '1' }, { capabilities: {} });
  endpoint = await serveHttp({ host, port: 0, token, createServer });
  const url = new URL(endpoint.url);
  url.hostname = '127.0.0.1';
  return url;
}

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** `fetch` does not let a program choose its Host. */
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

describe('the MCP server over HTTP on another address', () => {
  it.each<[string, Record<string, string>, number]>([
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
    expect(await post(await start('0.0.0.0'), headers)).toBe(status);
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

  it('limits the calls of one caller', async () => {
    const url = await start();
    // Refused for its address is counted as well, and costs little: all of them come before many new ones are allowed.
    const calls = Array.from({ length: 600 }, () => post(url, {}, { path: '/elsewhere' }));
    const statuses = await Promise.all(calls);
    expect(statuses.filter((status) => status === 404).length).toBeGreaterThanOrEqual(200);
    expect(statuses).toContain(429);
  });
});
