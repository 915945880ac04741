import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { identityOf, splitIdentity } from '../../src/protocol/identity.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import { proveDocument, signDocument } from '../../src/protocol/signed-document.ts';
import { readLog } from '../../src/storage/crawl/log.ts';
import { addKey } from '../../src/storage/registry/participants.ts';
import { catalogOf, openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import { forge, type Hand } from '../support/hosted/forged-node.ts';
import { newSigningKey } from '../support/hosted/published-tree.ts';
import { answers, kindOf, only } from '../support/hosted/tampering.ts';
import { startTamperingProxy, type TamperingProxy } from '../support/hosted/tampering-proxy.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import { type ProxiedNetwork, startBehindProxy } from '../support/network/registry-proxy.ts';
import { until } from '../support/time.ts';

// Addresses that the crawler does not visit, and its behaviour while the registry is unreachable.

const nobody = 'nobody.signpost.test';

let network: TestNetwork;
let scene: Scene;
let proxy: TamperingProxy;

afterEach(() => scene.end());

describe('a private address', () => {
  beforeAll(async () => {
    proxy = await startTamperingProxy();
    network = await startNetwork({
      settings: {
        DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]),
        DISCOVERY_NODES: JSON.stringify([proxy.url, nobody]),
        ALLOW_PRIVATE_ADDRESSES: 'false',
      },
    });
  });
  afterAll(async () => {
    await network?.close();
    await proxy?.stop();
  });
  beforeEach(async () => {
    scene = await openScene(network);
  });

  it('address-refused: in the registry record of a node is not called', async () => {
    await scene.publish(0, 10);
    await scene.expectTold('address-refused', { url: `${scene.provider.url}/.well-known/dedi.index.json` });
    expect(scene.provider.requests).toEqual([]);
    expect(await scene.served()).toBeUndefined();
  });

  it('address-refused: in a manifest is not called, although the operator named the address of that', async () => {
    proxy.passTo(scene.provider.url);
    await scene.publish(0, 10);
    await scene.look();
    await scene.expectTold('address-refused', {
      url: expect.stringMatching(/\/subscriber\.[0-9a-f]+\.json$/) as never,
    });
    expect(scene.provider.requests.map(({ path }) => kindOf(path))).not.toContain('record');
    expect(await scene.served()).toBeUndefined();
  });

  it('node-unknown: of a node that the registry does not know is not even looked for', async () => {
    await scene.look();
    const node = identityOf(nobody, network.config.REGISTRY_NAME);
    const { lines } = await readLog(network.database, { node, limit: 9, offset: 0 });
    expect(lines).toMatchObject([
      { code: 'node-unknown', message: `The registry has no usable record of ${node}.` },
    ]);
  });
});

describe('a registry that cannot be queried', () => {
  let proxied: ProxiedNetwork;
  beforeAll(async () => {
    proxied = await startBehindProxy();
    ({ network, registry: proxy } = proxied);
  });
  afterAll(() => proxied?.close());
  beforeEach(async () => {
    scene = await openScene(network);
    await scene.publish(0, 10);
  });

  it('registry-unavailable: hides nothing, and nothing new is taken until it can', async () => {
    proxy.spoil(answers(503));
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('registry-unavailable');
    proxy.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('registry-unavailable: about the key of one entry holds up that one alone, until it can', async () => {
    const { provider, catalogId } = scene;
    const { database } = network;
    const other = newSigningKey('key-2');
    await addKey(database, splitIdentity(provider.identity), {
      ...{ recordId: 'key-2', publicKey: publicKeyOf(other.privateKey), ttlSeconds: 0 },
    });
    proxy.spoil((path) => (path.endsWith('/key-2') ? { status: 503 } : undefined));
    const signEntry: Hand['sign'] = (kind, document, key) => {
      const isOther = kind === 'entry' && document.catalogId !== catalogId;
      return kind === 'manifest' || kind === 'record'
        ? proveDocument(document, key)
        : signDocument(document, isOther ? other : key, 'spec');
    };
    provider.spoil(forge(provider, {}, { hand: { sign: signEntry } }));
    await scene.offer(1, 11);
    await provider.publish({ message: { catalogs: [catalogOf('signed-otherwise', 0, 3)] } });
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    expect(await scene.served('signed-otherwise')).toBeUndefined();
    await scene.expectTold('registry-unavailable', { catalogId: 'signed-otherwise', document: 'entry' });

    // Without another hint: the failed lookup is retried soon.
    proxy.spoil();
    await until(async () => (await scene.served('signed-otherwise')) !== undefined, 'the other entry');

    // The new key has signed the served files by now; even so, a failed lookup of it must not hold up another catalog.
    proxy.spoil((path) => (path.endsWith('/key-2') ? { status: 503 } : undefined));
    await scene.publish(2, 12);
    expect(await scene.served()).toEqual(teas(2, 12));
    expect(await scene.served('signed-otherwise')).toEqual(teas(0, 3));
    proxy.spoil();
    provider.spoil();
  });

  it('registry-unavailable: when the change is read, and the index says later that nothing is new: the change is taken', async () => {
    const { provider } = scene;
    provider.spoil(
      only('change', () => {
        proxy.spoil(answers(503));
        return undefined;
      }),
    );
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('registry-unavailable', { catalogId: scene.catalogId });
    proxy.spoil();
    provider.spoil();
    provider.requests.length = 0;
    await scene.look();
    const index = provider.requests.filter(({ path }) => kindOf(path) === 'index');
    expect(index.map(({ status }) => status)).toEqual([304]);
    expect(await scene.served()).toEqual(teas(1, 11));
  });
});
