import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleErrorBody } from '../../src/console/errors.ts';
import { addTileRoute } from '../../src/console/map-tiles.ts';
import { addPageRoutes } from '../../src/console/page.ts';
import { createServer } from '../../src/http/server.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { createTestDatabase } from '../support/database/database.ts';
import { startNetwork, type TestNetwork } from '../support/network/network.ts';

// The files that the console serves: its page, built or not, and the map tiles.

const guides = readFileSync('web/src/shell/header.tsx', 'utf8').match(/[a-z-]+\.md/g) ?? [];

const directory = mkdtempSync(join(tmpdir(), 'signpost-page-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function serve(root: string): Promise<{ server: FastifyInstance; url: string }> {
  const server = createServer({
    ...{ role: 'console', logger: silentLogger(), metrics: createMetrics({ process: false }) },
    ...{ ready: async () => ({}), errorBody: consoleErrorBody },
  });
  addPageRoutes(server, root);
  await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}` };
}

describe('the page, where it is built', () => {
  let server: FastifyInstance;
  let url: string;
  beforeAll(async () => {
    const root = join(directory, 'web');
    mkdirSync(join(root, 'assets'), { recursive: true });
    writeFileSync(join(root, 'index.html'), '<!doctype html><title>The page</title>');
    writeFileSync(join(root, 'favicon.svg'), '<svg/>');
    writeFileSync(join(root, 'assets', 'index-abc123.js'), 'export {};');
    writeFileSync(join(root, '.hidden'), 'secret');
    writeFileSync(join(directory, 'outside.txt'), 'secret');
    symlinkSync(join(directory, 'outside.txt'), join(root, 'assets', 'link.txt'));
    ({ server, url } = await serve(root));
  });
  afterAll(() => server.close());

  it.each(guides)('serves the guide %s, to which one of its pages links', async (guide) => {
    const response = await fetch(`${url}/guides/${guide}`);
    expect([response.status, (await response.text()).slice(0, 2)]).toEqual([200, '# ']);
    expect((await fetch(`${url}/guides/..%2fpackage.json`)).status).toBe(404);
  });

  it.each([
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ['/favicon.svg', 'image/svg+xml', 'no-cache'],
    ['/assets/index-abc123.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ])('serves %s as what it is, and lets it load nothing from elsewhere', async (path, type, caching) => {
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('cache-control')).toBe(caching);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = response.headers.get('etag') ?? '';
    expect((await fetch(url + path, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await fetch(url + path, { method: 'HEAD' })).headers.get('content-type')).toBe(type);
  });

  it.each([
    '/.hidden',
    '/assets/link.txt',
    '/assets/..%2f..%2foutside.txt',
    '/assets/../../outside.txt',
    '/assets/',
    '/assets/missing.js',
    '/api/nothing',
  ])('serves nothing at %s, and says so as the API does', async (path) => {
    const { hostname, port } = new URL(url);
    const status = await new Promise((resolve, reject) => {
      // fetch would normalize the path.
      httpRequest({ hostname, port, path }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(404);
  });
});

describe('the page, where it is not built', () => {
  it('is not found, with the command that builds it', async () => {
    const { server, url } = await serve(join(directory, 'nowhere'));
    try {
      const response = await fetch(url);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: { hint: expect.stringContaining('npm run build') },
      });
    } finally {
      await server.close();
    }
  });
});

describe('MAP_TILES', () => {
  let network: TestNetwork;
  const file = join(directory, 'my city.pmtiles');
  beforeAll(async () => {
    writeFileSync(file, Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256)));
    network = await startNetwork({ settings: { ROLES: 'registry,console', MAP_TILES: file } });
  });
  afterAll(() => network?.close());

  it('is named in the session, and served in the ranges that are asked for', async () => {
    const { consoleUrl } = network.config;
    const { mapTiles } = (await (await fetch(`${consoleUrl}/api/session`)).json()) as { mapTiles: string };
    expect(mapTiles).toBe('/tiles/my%20city.pmtiles');
    const part = await fetch(consoleUrl + mapTiles, { headers: { range: 'bytes=10-13' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 10-13/1000']);
    expect([...new Uint8Array(await part.arrayBuffer())]).toEqual([10, 11, 12, 13]);
    const beyond = await fetch(consoleUrl + mapTiles, { headers: { range: 'bytes=2000-' } });
    expect(beyond.status).toBe(416);
    expect((await fetch(`${consoleUrl}/tiles/outside.txt`)).status).toBe(404);
  });

  it('may be a link to elsewhere, and is all that is served: neither its neighbours nor those of the link', async () => {
    const elsewhere = join(directory, 'elsewhere');
    const links = join(directory, 'links');
    for (const folder of [elsewhere, links]) mkdirSync(folder);
    for (const name of ['one.pmtiles', 'two.pmtiles']) writeFileSync(join(elsewhere, name), name);
    for (const name of ['secret', 'one.pmtiles']) writeFileSync(join(links, name), 'secret');
    symlinkSync(join(elsewhere, 'one.pmtiles'), join(links, 'map.pmtiles'));
    symlinkSync(join(links, 'secret'), join(elsewhere, 'map'));
    const server = createServer({
      ...{ role: 'console', logger: silentLogger(), metrics: createMetrics({ process: false }) },
      ...{ ready: async () => ({}), errorBody: consoleErrorBody },
    });
    addTileRoute(server, { MAP_TILES: join(links, 'map.pmtiles') });
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const ask = async (path: string) => {
      const response = await fetch(`${url}/tiles/${path}`);
      const text = await response.text();
      return response.status === 200 ? text : response.status;
    };
    try {
      expect(await ask('map.pmtiles')).toBe('one.pmtiles');
      const others = ['secret', 'one.pmtiles', 'two.pmtiles', 'map', '', '..%2Felsewhere%2Ftwo.pmtiles', '.'];
      for (const path of others) expect(await ask(path), path).toBe(404);
      // The link may be changed to a newer file while the console runs.
      rmSync(join(links, 'map.pmtiles'));
      expect(await ask('map.pmtiles')).toBe(404);
      symlinkSync(join(elsewhere, 'two.pmtiles'), join(links, 'map.pmtiles'));
      expect(await ask('map.pmtiles')).toBe('two.pmtiles');
    } finally {
      await server.close();
    }
  });

  it('must name a file', async () => {
    const database = await createTestDatabase();
    const settings = { ROLES: 'registry,console', MAP_TILES: join(directory, 'gone.pmtiles') };
    await expect(startNetwork({ settings, database })).rejects.toThrow(
      /^MAP_TILES does not name a file: .*gone\.pmtiles$/,
    );
    await database.drop();
  });
});
