import { createPublicKey, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { readLog } from '../../src/storage/crawl/log.ts';
import { setCatalogIndexUrls } from '../../src/storage/registry/participants.ts';
import { openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { answers, kindOf, only, replaced } from '../support/hosted/tampering.ts';
import type { TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import type { Body } from '../support/network/actor.ts';
import type { TestNetwork } from '../support/network/network.ts';
import { type ProxiedNetwork, startBehindProxy } from '../support/network/registry-proxy.ts';
import { asDediServer } from '../support/peers/dedi-registry.ts';

// A crawler that accepts nodes without a manifest (REQUIRE_MANIFEST=false) and indexes without a signature (ALLOW_UNSIGNED_INDEX=true), and
// registries that write their records differently from ours.

let proxied: ProxiedNetwork;
let network: TestNetwork;
let registry: TamperingProxy;
let scene: Scene;

beforeAll(async () => {
  proxied = await startBehindProxy({ REQUIRE_MANIFEST: 'false', ALLOW_UNSIGNED_INDEX: 'true' });
  ({ network, registry } = proxied);
});
afterAll(() => proxied?.close());
beforeEach(async () => {
  scene = await openScene(network);
});
afterEach(async () => {
  registry.spoil();
  await scene.end();
});

const indexUrl = () => `${scene.provider.url}/index/catalogs.index.json`;

async function listIndex(): Promise<void> {
  await scene.provider.register();
  await setCatalogIndexUrls(network.database, splitIdentity(scene.provider.identity), [indexUrl()]);
}

/** Makes the registry rewrite every record with this function. */
function writeRecords(rewrite: (record: Body) => void): void {
  registry.spoil((_path, { status, body }) => {
    if (status !== 200) return undefined;
    const answer = JSON.parse(body.toString());
    for (const record of answer.data.records ?? [answer.data]) rewrite(record);
    return { body: Buffer.from(JSON.stringify(answer)) };
  });
}

describe('a node without a manifest', () => {
  const forms: [what: string, rewrite: (record: Body) => void][] = [
    ['a list of objects', () => undefined],
    [
      'JSON text',
      ({ meta }) => {
        if (meta?.catalog_index_urls) meta.catalog_index_urls = JSON.stringify(meta.catalog_index_urls);
      },
    ],
    [
      'JSON text under its details',
      (record) => {
        if (record.meta?.catalog_index_urls === undefined) return;
        record.details.catalog_index_urls = JSON.stringify(record.meta.catalog_index_urls);
        delete record.meta;
      },
    ],
  ];

  it.each(forms)('is read where the registry’s own record lists its index: as %s', async (_what, rewrite) => {
    writeRecords(rewrite);
    scene.provider.spoil(only('manifest', answers(404)));
    await listIndex();
    await scene.publish(0, 10);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(0, 10));
    expect(scene.provider.requests.map(({ path }) => kindOf(path))).not.toContain('record');

    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('is not read where that lists none, and nothing is told of it: it hosts nothing', async () => {
    scene.provider.spoil(only('manifest', answers(404)));
    await scene.publish(0, 10);
    expect(await scene.served()).toBeUndefined();
    expect(await scene.lines()).toEqual([]);
  });

  it('signature-invalid: with one that does not verify is not read, although its index is listed', async () => {
    scene.provider.spoil(only('manifest', replaced('2', '3')));
    await listIndex();
    await scene.publish(0, 10);
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('signature-invalid', { document: 'manifest' });
  });
});

describe('an index without a signature', () => {
  const unsigned = (document: Body) => {
    delete document.signature;
  };

  it('is read, because its entries are signed', async () => {
    scene.provider.spoil(forge(scene.provider, { index: unsigned }, { signed: { index: 'as it was' } }));
    await scene.publish(0, 10);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(0, 10));
  });

  it('signature-missing: is not a reason to take an entry that is not signed', async () => {
    const forgery = { index: unsigned, entry: unsigned };
    const signed = { index: 'as it was', entry: 'as it was' } as const;
    scene.provider.spoil(forge(scene.provider, forgery, { signed }));
    await scene.publish(0, 10);
    expect(await scene.served()).toBeUndefined();
    await scene.expectTold('signature-missing', { document: 'entry' });
  });
});

describe('a registry that writes public keys as', () => {
  const forms = [
    ['PEM', { format: 'pem', type: 'spki' }],
    ['DER in Base64', { format: 'der', type: 'spki' }],
  ] as const;

  it.each(forms)('%s is understood', async (_what, options) => {
    writeRecords(({ details }) => {
      const raw = Buffer.from(details.signing_public_key, 'base64').toString('base64url');
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' });
      const written = key.export(options as { format: 'der'; type: 'spki' });
      details.signing_public_key = typeof written === 'string' ? written : written.toString('base64');
    });
    await scene.publish(0, 10);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(0, 10));
  });
});

describe('a registry that answers as DeDi servers do', () => {
  it('is understood: pages are turned, summaries looked up, and records go by their names', async () => {
    registry.spoil(asDediServer());
    const before = registry.requests.length;
    await scene.publish(0, 10);
    expect(await scene.lines()).toEqual([]);
    expect(await scene.served()).toEqual(teas(0, 10));
    const paths = registry.requests.slice(before).map(({ path }) => path);
    expect(paths.some((path) => path.includes('?page=2'))).toBe(true);
    expect(paths.some((path) => path.includes(`${encodeURIComponent(scene.provider.id)}~key-1`))).toBe(true);
  });
});

describe('a participant whose name no registry can look up', () => {
  it('node-unknown: hides nobody else of its network, and is told', async () => {
    const odd = randomBytes(4_000).toString('hex');
    await network.actor(`odd-name-${randomBytes(4).toString('hex')}`);
    writeRecords(({ details }) => {
      if (details?.subscriber_id?.startsWith('odd-name')) details.subscriber_id = odd;
    });
    await scene.offer(0, 3);
    await listIndex();
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 3));
    const told = `such as "${odd.slice(0, 100)}".`;
    const { lines } = await readLog(network.database, { limit: 100, offset: 0 });
    expect(lines).toContainEqual(
      expect.objectContaining({ code: 'node-unknown', message: expect.stringContaining(told) }),
    );
  });
});

describe('a participant whose address no host can have', () => {
  it('hides nobody else of its network', async () => {
    const odd = `http://${randomBytes(4_000).toString('hex')}/`;
    await network.actor(`odd-address-${randomBytes(4).toString('hex')}`);
    writeRecords(({ details }) => {
      if (details?.subscriber_id?.startsWith('odd-address')) details.url = odd;
    });
    await scene.offer(0, 3);
    await listIndex();
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 3));
  });
});
