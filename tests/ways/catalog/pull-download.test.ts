import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { downloadUrl } from '../../../src/catalog/download.ts';
import { silentLogger } from '../../../src/logger.ts';
import { startProcess } from '../../../src/main.ts';
import { loadOrCreateSigningKey } from '../../../src/registry/key-files.ts';
import { findDownload, pieceBytes } from '../../../src/storage/catalog/downloads.ts';
import { seedCatalog, seedResources } from '../../support/catalogs/seed-catalogs.ts';
import { freePort } from '../../support/free-port.ts';
import type { Actor, Body } from '../../support/network/actor.ts';
import { startNetwork, type TestNetwork } from '../../support/network/network.ts';
import { pull, subscribe } from '../../support/network/subscriptions.ts';

// Results of a pull that are too large for the callback and are downloaded (catalog spec: POST /catalog/on_pull, downloadManifest).

const large = 'large.org/net';

let network: TestNetwork;
let ds: Actor;

beforeAll(async () => {
  network = await startNetwork({ settings: { PULL_INLINE_LIMIT: '100kb' } });
  ds = await network.actor('ds');
  for (const id of ['large-1', 'large-2']) {
    await seedCatalog(network.database, { id, visibleTo: [large], offers: [{ id: 'o' }] });
    await seedResources(network.database, id, { count: 2_000, bytes: 600 });
  }
});
afterAll(() => network.close());

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

describe('a result above PULL_INLINE_LIMIT', () => {
  let manifest: Body;
  let whole: Buffer;

  beforeAll(async () => {
    const message = await pull(ds, { subscriptionId: await subscribe(ds, { networkIds: [large] }) });
    expect(message).toEqual({
      status: 'COMPLETED',
      downloadManifest: expect.any(Object),
      pagination: { total: 2, limit: 20, offset: 0 },
    });
    manifest = message.downloadManifest;
    whole = await bytesOf(await fetch(manifest.url));
  });

  const get = (headers: Record<string, string> = {}, url = manifest.url, method = 'GET') =>
    fetch(url, { method, headers });

  it('is offered as a json.gz download with url, expiry, size and checksum', () => {
    expect(manifest).toEqual({
      url: expect.stringContaining(`${network.catalogUrl}/downloads/`),
      expiresAt: expect.stringMatching(/Z$/),
      format: 'json.gz',
      sizeBytes: whole.length,
      checksum: `sha256:${createHash('sha256').update(whole).digest('hex')}`,
    });
    const seconds = (Date.parse(manifest.expiresAt) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(3_500);
    expect(seconds).toBeLessThanOrEqual(3_601);
  });

  it('holds an object with the catalogs', () => {
    const { catalogs, ...rest } = JSON.parse(gunzipSync(whole).toString('utf8'));
    expect(rest).toEqual({});
    expect(catalogs.map(({ id }: Body) => id)).toEqual(['large-1', 'large-2']);
    for (const { resources, offers } of catalogs) {
      expect(new Set(resources.map(({ id }: { id: string }) => id)).size).toBe(2_000);
      expect(offers).toEqual([{ id: 'o' }]);
    }
  });

  it('is fetched without Authorization, as application/gzip with its length', async () => {
    const { status, headers } = await get();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/gzip');
    expect(headers.get('content-encoding')).toBeNull();
    expect(Number(headers.get('content-length'))).toBe(manifest.sizeBytes);
    expect(headers.get('accept-ranges')).toBe('bytes');
  });

  it('answers HEAD with the same headers and no body, also where it asks for a range', async () => {
    const response = await get({ range: 'bytes=0-9' }, manifest.url, 'HEAD');
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBe(manifest.sizeBytes);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  });

  it('serves single ranges with 206, across pieces too', async () => {
    expect(whole.length).toBeGreaterThan(pieceBytes + 100);
    const { length } = whole;
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      [`bytes=${pieceBytes - 5}-${pieceBytes + 4}`, pieceBytes - 5, pieceBytes + 4],
      [`bytes=${pieceBytes}-`, pieceBytes, length - 1],
      ['bytes=-7', length - 7, length - 1],
    ] as const) {
      const response = await get({ range });
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${length}`);
      expect(whole.subarray(start, end + 1).equals(await bytesOf(response))).toBe(true);
    }
  });

  it('resumes with If-Range only what it was', async () => {
    const etag = (await get()).headers.get('etag') ?? '';
    expect((await get({ range: 'bytes=10-19', 'if-range': etag })).status).toBe(206);
    const changed = await get({ range: 'bytes=10-19', 'if-range': '"something-else"' });
    expect(changed.status).toBe(200);
    expect((await changed.arrayBuffer()).byteLength).toBe(whole.length);
  });

  it('answers 416 to a range beyond its end', async () => {
    const { status, headers } = await get({ range: `bytes=${whole.length}-` });
    expect([status, headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
  });

  it('answers 403 to an address that was tampered with', async () => {
    const url = new URL(manifest.url);
    url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1));
    expect((await get({}, url.href)).status).toBe(403);
    expect((await get({}, manifest.url.replace(/signature=.*/, ''))).status).toBe(403);
    expect((await get({}, `${network.catalogUrl}/downloads/${randomUUID()}`)).status).toBe(403);
  });

  it('answers 410 after it has expired, and 404 where there is none', async () => {
    const { config } = network;
    const self = loadOrCreateSigningKey(config.DATA_DIR, config.identities.catalog);
    const address = (id: string, expiresAt: Date) =>
      downloadUrl(
        { hosting: { url: network.catalogUrl, report: async () => ({}) }, self },
        { id, expiresAt, sizeBytes: 0, checksum: '' },
      );
    const { pathname } = new URL(manifest.url);
    const id = pathname.slice('/downloads/'.length);
    expect((await get({}, address(id, new Date(Date.now() - 1_000)))).status).toBe(410);
    expect((await get({}, address(randomUUID(), new Date(Date.now() + 60_000)))).status).toBe(404);
  });

  it('is served by any process of the service', async () => {
    const port = await freePort();
    const second = await startProcess(
      { ...network.config, roles: ['catalog'], CATALOG_PORT: port },
      { logger: silentLogger() },
    );
    try {
      const url = Object.assign(new URL(manifest.url), { port: String(port) });
      expect(whole.equals(await bytesOf(await fetch(url)))).toBe(true);
    } finally {
      await second.close();
    }
  });

  it('is not announced beyond its expiry', async () => {
    const { pathname } = new URL(manifest.url);
    const download = await findDownload(network.database, pathname.slice('/downloads/'.length));
    const { rows } = await network.database.query<{ give_up_at: Date }>(
      // Approximately: the remaining time was known when the transaction began, and that is its clock.
      `select give_up_at from work.callback where abs(extract(epoch from give_up_at - $1)) < 600`,
      [download?.expiresAt],
    );
    expect(rows).toHaveLength(1);
  });
});
