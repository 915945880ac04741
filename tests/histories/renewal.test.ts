import { createPublicKey } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { register as registerRefreshCommand } from '../../src/cli/refresh.ts';
import { sha256Matches } from '../../src/protocol/digest.ts';
import { verifyDocument } from '../../src/protocol/signed-document.ts';
import { loadOrCreateSigningKey } from '../../src/registry/key-files.ts';
import {
  defaultIndex,
  fetchFile,
  smallCatalog,
  startPublisher,
  type TestPublisher,
  trigger,
} from '../support/hosted/publisher.ts';
import { patienceMs } from '../support/patience.ts';
import { runCommand } from '../support/processes/command.ts';
import { until } from '../support/time.ts';

// Index, manifest and Subscriber record announce their next update, and are updated by then.

const manifestPath = '.well-known/dedi.index.json';

/** Reads the three one after another like a crawler, and verifies each. */
async function readChain({ config }: TestPublisher) {
  const { privateKey } = loadOrCreateSigningKey(config.DATA_DIR, config.identities.publisher);
  const publicKey = createPublicKey(privateKey);
  const { body: manifest } = await fetchFile(config, manifestPath);
  const [file] = manifest.files;
  const recordBytes = Buffer.from(await (await fetch(file.url)).arrayBuffer());
  expect(sha256Matches(file.digest, recordBytes)).toBe(true);
  const record = JSON.parse(String(recordBytes));
  const { body: index } = await fetchFile(config, record.records[0].meta.catalog_index_urls[0].url);
  for (const document of [manifest, record, index]) verifyDocument(document, publicKey);
  const nextUpdates = [manifest, record, index].map(({ next_update }) => Date.parse(next_update));
  return { manifest, record, index, nextUpdates };
}

// Its tests wait for renewals side by side.
describe.concurrent('a running publisher', () => {
  let publisher: TestPublisher;
  beforeAll(async () => {
    publisher = await startPublisher({ NEXT_UPDATE_SECONDS: '10' });
    await trigger(publisher.config, { message: { catalogs: [smallCatalog('coffee')] } });
  });
  afterAll(() => publisher.close());

  it('serves the same manifest at both of its paths', async () => {
    const [one, other] = await Promise.all([
      fetchFile(publisher.config, manifestPath),
      fetchFile(publisher.config, '.well-known/dedi.json'),
    ]);
    expect(one.status).toBe(200);
    expect(one.body).toEqual(other.body);
  });

  it('renews everything before the update that it announced, for as long as it runs', async () => {
    const first = await readChain(publisher);
    const announced = new Set<number>();
    await until(async () => {
      const readAt = Date.now();
      const { nextUpdates } = await readChain(publisher);
      expect(Math.min(...nextUpdates)).toBeGreaterThan(readAt);
      return announced.add(Math.min(...nextUpdates)).size === 3;
    }, 'the second renewal');
    const last = await readChain(publisher);
    expect(Math.min(...last.nextUpdates)).toBeGreaterThan(Math.max(...first.nextUpdates));
    expect(last.index.catalogs).toEqual(first.index.catalogs);
  });

  it('keeps the Subscriber record that an older manifest names, for whoever has read that one', async () => {
    const { manifest } = await readChain(publisher);
    const isRenewed = async () =>
      (await readChain(publisher)).manifest.files[0].url !== manifest.files[0].url;
    await until(isRenewed, 'the renewal');
    expect((await fetchFile(publisher.config, manifest.files[0].url)).status).toBe(200);
  });

  it('serves the latest Subscriber record at one address, its source_url, whatever the manifest names', async () => {
    const before = await readChain(publisher);
    const after = await vi.waitFor(async () => {
      const chain = await readChain(publisher);
      expect(chain.manifest.files[0].url).not.toBe(before.manifest.files[0].url);
      return chain;
    }, patienceMs);
    const { catalogBaseUrl } = publisher.config;
    expect(before.record.source_url).toBe(`${catalogBaseUrl}/subscriber.json`);
    expect(after.record.source_url).toBe(before.record.source_url);
    const latest = await fetch(after.record.source_url);
    expect(latest.headers.get('cache-control')).toBe('no-cache');
    const { next_update: nextUpdate } = (await latest.json()) as typeof after.record;
    expect(Date.parse(nextUpdate)).toBeGreaterThanOrEqual(Date.parse(after.record.next_update));
  });

  it('says at /ready until when it is good', async () => {
    const { body } = await fetchFile(publisher.config, 'ready');
    expect(body).toMatchObject({ ready: true, roles: { publisher: { nextUpdate: expect.any(String) } } });
  });
});

describe('a publisher with time', () => {
  let publisher: TestPublisher;
  beforeAll(async () => {
    publisher = await startPublisher();
    await trigger(publisher.config, { message: { catalogs: [smallCatalog('coffee')] } });
  });
  afterAll(() => publisher.close());

  it('changes no byte when it publishes again what is published, and none when it is started again', async () => {
    const before = await readChain(publisher);
    const etags = async () =>
      Promise.all(
        [manifestPath, defaultIndex, '.well-known/dedi.json'].map(async (path) =>
          (await fetch(`${publisher.config.catalogBaseUrl}/${path}`)).headers.get('etag'),
        ),
      );
    const known = await etags();
    await trigger(publisher.config, { message: { catalogs: [smallCatalog('coffee')] } });
    const { DATA_DIR, PUBLISHER_PORT: port } = publisher.settings;
    const again = await startPublisher({
      DATA_DIR: DATA_DIR ?? '',
      PUBLISHER_URL: `http://127.0.0.1:${port}`,
    });
    await again.close();
    expect(await etags()).toEqual(known);
    expect(await readChain(publisher)).toEqual(before);
  });

  it('is renewed by "signpost refresh" at once', async () => {
    const before = await readChain(publisher);
    const run = await runCommand(registerRefreshCommand, ['refresh'], publisher.settings);
    expect(run).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('Signed with key-1; the next update is announced for'),
    });
    const after = await readChain(publisher);
    expect(Math.min(...after.nextUpdates)).toBeGreaterThan(Math.max(...before.nextUpdates));
    expect(after.index.catalogs).toEqual(before.index.catalogs);
  });
});

it('a publisher says in its record what PUBLISHER_DOMAIN and PUBLISHER_COUNTRIES say, once it is started with them', async () => {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'signpost-named-'));
  try {
    const unnamed = await startPublisher({ DATA_DIR });
    await trigger(unnamed.config, { message: { catalogs: [smallCatalog('coffee')] } });
    expect((await readChain(unnamed)).record.records).toMatchObject([
      { details: { domain: '127.0.0.1', countries: [] } },
    ]);
    await unnamed.close();
    const names = { PUBLISHER_DOMAIN: 'energy', PUBLISHER_COUNTRIES: 'IND,NPL' };
    const named = await startPublisher({ ...unnamed.settings, ...names });
    const isNamed = async () => (await readChain(named)).record.records[0].details.domain === 'energy';
    await until(isNamed, 'the record to be signed anew');
    expect((await readChain(named)).record.records).toMatchObject([
      { details: { countries: ['IND', 'NPL'] } },
    ]);
    await named.close();
  } finally {
    rmSync(DATA_DIR, { recursive: true });
  }
});
