import { createPublicKey } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadOrCreateSigningKey } from '../../src/registry/key-files.ts';
import { catalogOf, openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import {
  defaultIndex,
  fetchFile,
  smallCatalog,
  startPublisher,
  trigger,
} from '../support/hosted/publisher.ts';
import { copyOf } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { goJson, jcs, sha256 } from '../support/peers/foreign-hands.ts';
import { crawlAsOnix, verified } from '../support/peers/onix-crawler.ts';

// WIRE_PROFILE=nfh014, for networks whose crawlers read only object signatures and `sha-256:` digests: the files of our publisher, member by member,
// and the whole life of a catalog in this profile.

let network: TestNetwork;
let scene: Scene;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
  scene = await openScene(network, {
    ...{ profile: 'nfh014', limits: { compactionChanges: 5, compactionFraction: 10 } },
  });
});
afterAll(async () => {
  await scene?.end();
  await network?.close();
});

const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const digest = expect.stringMatching(/^sha-256:[0-9a-f]{64}$/);
const signature = {
  ...{ keyId: 'key-1', canonicalization: 'JCS' },
  value: expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/),
};
const proof = {
  ...{ verification_method: 'key-1', canonicalization: 'JCS' },
  // {"alg":"EdDSA","b64":false,"crit":["b64"]}
  jws: expect.stringMatching(/^eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il19\.\.[\w-]{86}$/),
};

/** Any number of bytes. */
const size = expect.any(Number);
const url = (pattern: RegExp) => expect.stringMatching(pattern);

async function read(address: string): Promise<{ document: Body; bytes: Buffer }> {
  const { body: bytes } = await copyOf(address);
  return { document: JSON.parse(bytes.toString()), bytes };
}

const readIndex = async () =>
  (await read(`${scene.provider.url}/index/catalogs.index.json`)).document as Body;

const publicKey = () => createPublicKey(scene.provider.tree.key.privateKey);

/** Checks like a peer, with nothing but the rules of Go's encoder and Ed25519. */
function isSigned(document: Body): boolean {
  return verified(document, publicKey()) !== undefined;
}

/** The peer's copy of the catalog. */
const peerCopy = async () =>
  (await crawlAsOnix(`${scene.provider.url}/index/catalogs.index.json`, publicKey())).get(scene.catalogId);

describe('in the profile nfh014', () => {
  it('a baseline and a change are published', async () => {
    await scene.publish(0, 10);
    await scene.publish(1, 11);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('the manifest names the record by a sha-256: digest', async () => {
    const { provider } = scene;
    const { document } = await read(`${provider.url}/.well-known/dedi.index.json`);
    const { x } = createPublicKey(provider.tree.key.privateKey).export({ format: 'jwk' });
    expect(document).toEqual({
      ...{ dedi_version: '0.1', type: 'dedi-manifest', domain: provider.id, proof },
      ...{ updated_at: instant, next_update: instant },
      keys: [{ kid: 'key-1', kty: 'OKP', crv: 'Ed25519', x }],
      files: [{ registry: 'beckn_subscriber', url: url(/\/subscriber\.[0-9a-f]{12}\.json$/), digest }],
    });
    expect((await read(`${provider.url}/.well-known/dedi.json`)).document).toEqual(document);
    const [file] = document.files;
    const { document: record, bytes } = await read(file.url);
    expect(file.digest).toBe(`sha-256:${sha256(bytes)}`);
    expect(record).toMatchObject({
      ...{ type: 'dedi-file', source_url: `${provider.url}/subscriber.json`, proof },
      publisher: { domain: provider.id, key: { kid: 'key-1', kty: 'OKP', crv: 'Ed25519', x } },
    });
    expect(record.records).toMatchObject([
      {
        ...{ record_name: 'key-1', details: { subscriber_id: provider.id, url: provider.url, type: 'BPP' } },
        meta: { catalog_index_urls: [{ url: `${provider.url}/index/catalogs.index.json` }] },
      },
    ]);
  });

  it('the index and its entries have object signatures, their files sha-256: digests', async () => {
    const index = await readIndex();
    expect(index).toEqual({
      ...{ nodeId: scene.provider.id, next_update: instant, signature },
      catalogs: [
        {
          ...{
            catalogId: scene.catalogId,
            entryVersion: 2,
            catalogType: 'REGULAR',
            isActive: true,
            signature,
          },
          baseline: { version: 1, url: url(/\/catalogs\/[^/]+\.v1\.[0-9a-f]{12}\.json$/), size, digest },
          changes: [
            {
              ...{ version: 2, fromVersion: 1, toVersion: 2, size, digest },
              url: url(/\/catalogs\/changes\/[^/]+\.v2\.[0-9a-f]{12}\.changes\.json$/),
            },
          ],
        },
      ],
    });
    expect([index, ...index.catalogs].map(isSigned)).toEqual([true, true]);
  });

  it('baseline and change file have object signatures, and the digest and size that the index says', async () => {
    const { catalogId } = scene;
    const [{ baseline, changes }] = (await readIndex()).catalogs;
    const files = await Promise.all([baseline, ...changes].map(({ url: address }) => read(address)));
    expect(files.map(({ document }) => document)).toEqual([
      {
        ...{ catalogId, version: 1, next_update: instant, signature },
        catalog: catalogOf(catalogId, 0, 10),
      },
      {
        ...{ catalogId, fromVersion: 1, toVersion: 2, next_update: instant, signature },
        resources: { upserts: teas(10, 11), removals: ['r0'] },
        offers: { upserts: [], removals: [] },
      },
    ]);
    expect(files.map(({ document }) => isSigned(document))).toEqual([true, true]);
    const declared = files.map(({ bytes }) => ({ size: bytes.length, digest: `sha-256:${sha256(bytes)}` }));
    expect([baseline, ...changes]).toMatchObject(declared);
  });

  it('a catalog is paused and resumed, in its entry and by a change file for those who read its content alone', async () => {
    const { provider, catalogId } = scene;
    expect(await peerCopy()).toMatchObject({ version: 2, isActive: true });
    expect(await provider.publish({ pause: [catalogId] })).toMatchObject({ results: [{ version: 3 }] });
    expect(await provider.publish({ pause: [catalogId] })).toMatchObject({ results: [{ version: 3 }] });
    expect((await readIndex()).catalogs).toMatchObject([{ entryVersion: 3, isActive: false }]);
    expect(await peerCopy()).toMatchObject({ version: 3, isActive: false, resources: teas(1, 11) });
    await scene.look();
    expect(await held(network.database, catalogId)).toMatchObject({ head: { isActive: false } });
    expect(await provider.publish({ resume: [catalogId] })).toMatchObject({ results: [{ version: 4 }] });
    expect(await peerCopy()).toMatchObject({ version: 4, isActive: true, resources: teas(1, 11) });
    await scene.look();
    expect(await held(network.database, catalogId)).toMatchObject({ head: { isActive: true } });
  });

  it('a compaction is followed, by who was there and by who comes later', async () => {
    await scene.publish(2, 12);
    await scene.publish(3, 13);
    const [{ baseline, changes }] = (await readIndex()).catalogs;
    expect(baseline).toMatchObject({ version: 6, digest });
    expect(changes.map(({ version }: Body) => version)).toEqual([2, 3, 4, 5, 6]);
    expect(await scene.served()).toEqual(teas(3, 13));
    await network.database.query('delete from discovery.crawl_node where node = $1', [
      scene.provider.identity,
    ]);
    await scene.look();
    expect(await scene.served()).toEqual(teas(3, 13));
  });

  it('what Go writes otherwise than RFC 8785 verifies for a peer that knows only Go, and for us', async () => {
    const [one, ...others] = teas(3, 13);
    // Sorted by UTF-16 units, the second name comes first; by UTF-8 bytes, the first.
    const attributes = { '\ufb01': 1, '\u{1f600}': 2, 'a<b>&c': -0 };
    const context = 'https://schema.example.org/Tea/v1/context.jsonld';
    const special = {
      ...{ id: 'r3', descriptor: { name: 'Tea & <scones>\u2028', longDesc: one?.descriptor.longDesc } },
      resourceAttributes: { '@context': context, '@type': 'Tea', ...attributes },
    };
    await scene.offer(3, 13, { resources: [special, ...others] });
    const differing = { ...special, resourceAttributes: { ...special.resourceAttributes, 'a<b>&c': 0 } };
    expect((await peerCopy())?.resources).toEqual([differing, ...others]);
    expect(jcs(differing)).not.toBe(goJson(differing));
    await scene.look();
    expect(await scene.served()).toEqual([differing, ...others]);
    expect(await scene.lines()).toEqual([]);
  });

  it('a retired catalog has neither isActive nor files, and is served no more', async () => {
    const { provider, catalogId } = scene;
    await provider.publish({ retire: [catalogId] });
    const [entry] = (await readIndex()).catalogs;
    expect(entry).toMatchObject({ catalogId, retiredAt: instant, signature });
    for (const member of ['isActive', 'baseline', 'changes']) expect(entry).not.toHaveProperty(member);
    expect(isSigned(entry)).toBe(true);
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    expect(await scene.lines()).toEqual([]);
  });
});

describe('WIRE_PROFILE=nfh014', () => {
  it('is the profile of what the trigger publishes, also of a file that is gzipped', async () => {
    const publisher = await startPublisher({ WIRE_PROFILE: 'nfh014' });
    try {
      const catalogs = [smallCatalog('small'), { ...smallCatalog('large'), resources: teas(0, 8_000) }];
      const { body } = await trigger(publisher.config, {
        context: { action: 'catalog/publish' },
        message: { catalogs },
      });
      expect(body.status).toBe('COMPLETED');
      const { body: index } = await fetchFile(publisher.config, defaultIndex);
      const ofKey = { ...signature, keyId: expect.any(String) };
      expect(index).toMatchObject({
        signature: ofKey,
        catalogs: [{ signature: ofKey }, { signature: ofKey }],
      });
      const { privateKey } = loadOrCreateSigningKey(
        publisher.config.DATA_DIR,
        publisher.config.identities.publisher,
      );
      const copies = await crawlAsOnix(
        `${publisher.config.catalogBaseUrl}/${defaultIndex}`,
        createPublicKey(privateKey),
      );
      expect([...copies.keys()]).toEqual(['small', 'large']);
      const references = index.catalogs.map(({ baseline }: Body) => baseline);
      expect(references).toMatchObject([
        { digest, url: expect.stringMatching(/\.json$/) },
        { digest, url: expect.stringMatching(/\.json\.gz$/) },
      ]);
      for (const { url: address, digest: declared } of references) {
        const { body: bytes } = await copyOf(address);
        const plain = address.endsWith('.gz') && bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
        expect(declared).toBe(`sha-256:${sha256(plain)}`);
        expect(JSON.parse(plain.toString())).toMatchObject({ version: 1, signature: ofKey });
      }
    } finally {
      await publisher.close();
    }
  });
});
