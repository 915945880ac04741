import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from '../../../src/http/server.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { addFileRoutes } from '../../../src/publisher/serve.ts';

// The published files, as crawlers, browsers and attackers fetch them.

const index = 'index/catalogs.index.json';
const baseline = 'catalogs/chargers.v1.0123456789ab.json';
const gzipped = 'catalogs/chargers.v2.ba9876543210.json.gz';
const pipe = 'catalogs/chargers.v3.0123456789ab.json';
const change = 'catalogs/changes/chargers.v2.0123456789ab.changes.json';

let directory: string;
let root: string;
let server: FastifyInstance;
let origin: URL;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signpost-serve-'));
  root = join(directory, 'public');
  for (const folder of ['index', 'catalogs/changes', '.well-known', '.git', 'empty'])
    await mkdir(join(root, folder), { recursive: true });
  await write(index, '{"nodeId":"a"}');
  await write(baseline, '0123456789');
  await write(gzipped, gzipSync('{}'));
  await write(change, '{}');
  await write('.well-known/dedi.index.json', '{"type":"dedi-manifest"}');
  await write('.hidden.json', 'hidden');
  await write('.git/config', 'hidden');
  await writeFile(join(directory, 'secret.json'), 'secret');
  await symlink(join(directory, 'secret.json'), join(root, 'link.json'));
  await symlink('/etc', join(root, 'etc'));
  execFileSync('mkfifo', [join(root, pipe)]);
  await symlink(baseline.replace('catalogs/', ''), join(root, 'catalogs/inner-link.json'));
  server = createServer({
    role: 'publisher',
    logger: silentLogger(),
    metrics: createMetrics({ process: false }),
    ready: async () => ({}),
  });
  addFileRoutes(server, { root });
  origin = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Writes like the publisher: the whole file under another name, then renamed. By default with an old time. */
async function write(path: string, content: string | Buffer, at = new Date('2026-01-02T03:04:05.678Z')) {
  const draft = join(directory, 'draft');
  await writeFile(draft, content);
  await utimes(draft, at, at);
  await rename(draft, join(root, path));
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends the path unchanged. */
function ask(path: string, headers: OutgoingHttpHeaders = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: origin.hostname, port: origin.port, path, headers, method }, async (response) =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: await buffer(response),
      }),
    )
      .on('error', reject)
      .end();
  });
}

describe('a published file', () => {
  it.each([
    [index, 'application/json', 'no-cache'],
    ['.well-known/dedi.index.json', 'application/json', 'no-cache'],
    [baseline, 'application/json', 'public, max-age=31536000, immutable'],
    [change, 'application/json', 'public, max-age=31536000, immutable'],
    [gzipped, 'application/gzip', 'public, max-age=31536000, immutable'],
    ['catalogs/inner-link.json', 'application/json', 'no-cache'],
  ])('%s is %s, kept as: %s', async (path, type, caching) => {
    const { status, headers } = await ask(`/${path}`);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['cache-control']).toBe(caching);
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  it.each(['http://elsewhere.example', 'HTTP://127.0.0.1:1'])(
    'is found also by its whole address, as one asks a proxy for it: %s',
    async (anyOrigin) => {
      expect((await ask(`${anyOrigin}/${index}`)).body.toString()).toBe('{"nodeId":"a"}');
      expect((await ask(`${anyOrigin}/../secret.json`)).status).toBe(404);
      expect((await ask(anyOrigin)).status).toBe(404);
    },
  );

  it('that is gzipped is served as the bytes that it is, without a Content-Encoding', async () => {
    const { headers, body } = await ask(`/${gzipped}`, { 'accept-encoding': 'gzip' });
    expect(headers['content-encoding']).toBeUndefined();
    expect(body).toEqual(gzipSync('{}'));
  });

  it('is described by HEAD as by GET, without its bytes, also where it asks for a range', async () => {
    const got = await ask(`/${baseline}`);
    const head = await ask(`/${baseline}`, { range: 'bytes=2-4' }, 'HEAD');
    expect(head.status).toBe(200);
    const { date: _, 'x-request-id': __, ...headers } = head.headers;
    expect(got.headers).toMatchObject(headers);
    expect(headers).toMatchObject({ 'content-length': '10', etag: expect.stringMatching(/^"[^"]+"$/) });
    expect(head.body).toHaveLength(0);
  });

  it('that is unchanged costs a 304, by ETag or by date', async () => {
    const { headers } = await ask(`/${index}`);
    const { etag = '', 'last-modified': lastModified = '' } = headers;
    expect(lastModified).toBe('Fri, 02 Jan 2026 03:04:05 GMT');
    for (const condition of [
      { 'if-none-match': etag },
      { 'if-none-match': `"other", W/${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': lastModified },
    ]) {
      const again = await ask(`/${index}`, condition);
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
  });

  it('that has changed comes again, whatever the date says when an ETag is given', async () => {
    const before = await ask(`/${index}`);
    const etag = String(before.headers.etag);
    const lastModified = String(before.headers['last-modified']);
    for (const condition of [
      { 'if-none-match': '"other"', 'if-modified-since': lastModified },
      { 'if-modified-since': 'Fri, 02 Jan 2026 03:04:04 GMT' },
      { 'if-modified-since': 'yesterday' },
    ])
      expect((await ask(`/${index}`, condition)).status).toBe(200);
    // The same length, at the same moment.
    await write(index, '{"nodeId":"b"}');
    const after = await ask(`/${index}`, { 'if-none-match': etag });
    expect([after.status, String(after.body)]).toEqual([200, '{"nodeId":"b"}']);
  });

  it('that was written in this very second has a date that a second writing in it does not hide behind', async () => {
    await write(index, '{"nodeId":"c"}', new Date());
    const { headers } = await ask(`/${index}`);
    const since = String(headers['last-modified']);
    expect(Date.parse(since)).toBeLessThan(Date.parse(String(headers.date)));
    await write(index, '{"nodeId":"d"}', new Date());
    expect((await ask(`/${index}`, { 'if-modified-since': since })).status).toBe(200);
  });

  it('is also given in parts', async () => {
    const { headers } = await ask(`/${baseline}`);
    const etag = String(headers.etag);
    const part = await ask(`/${baseline}`, { range: 'bytes=2-4', 'if-range': etag });
    expect([part.status, String(part.body), part.headers['content-range']]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ]);
    const other = await ask(`/${baseline}`, { range: 'bytes=2-4', 'if-range': '"other"' });
    expect([other.status, String(other.body)]).toEqual([200, '0123456789']);
    const beyond = await ask(`/${baseline}`, { range: 'bytes=10-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
  });

  it('may be fetched by the pages of any site, with conditions', async () => {
    const { status, headers } = await ask(
      `/${index}`,
      { origin: 'https://a.example', 'access-control-request-method': 'GET' },
      'OPTIONS',
    );
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-headers']).toContain('If-None-Match');
  });

  it('is not written over HTTP', async () => {
    const { status, headers } = await ask(`/${index}`, {}, 'PUT');
    expect([status, headers.allow]).toEqual([405, 'OPTIONS, GET, HEAD']);
  });
});

describe('what is not published', () => {
  it.each([
    '/',
    '/index',
    '/index/',
    '/empty',
    `/${pipe}`,
    '/index/other.index.json',
    '/index/catalogs.index.json/',
    '/index//catalogs.index.json',
    '/index/catalogs.index.json/x',
    '/.hidden.json',
    '/.git/config',
    '/catalogs/.well-known/dedi.index.json',
    '/../secret.json',
    '/index/../../secret.json',
    '/..%2fsecret.json',
    '/index/..%2f..%2fsecret.json',
    '/%2e%2e/secret.json',
    '/%2e%2e%2fsecret.json',
    '/index/..%5c..%5csecret.json',
    '/index%00.json',
    '/%ff',
    '/%zz',
    '//etc/passwd',
    '/etc/passwd',
    '/link.json',
    `/${'a'.repeat(300)}.json`,
  ])('%s is not found', async (path) => {
    const { status, body } = await ask(path);
    expect([400, 404]).toContain(status);
    expect(String(body)).not.toMatch(/secret|hidden|root:/);
    expect(String(body)).toContain('NACK');
  });
});

it('answers as every role does to its operator', async () => {
  expect((await ask('/health')).status).toBe(200);
  expect((await ask('/ready')).status).toBe(200);
  expect(String((await ask('/metrics')).body)).toContain('signpost_http_request_seconds');
  expect(String((await ask('/openapi.json')).body)).toContain('Fetch a published file');
});
