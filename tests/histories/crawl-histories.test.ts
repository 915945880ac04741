import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { publicKeyOf } from '../../src/protocol/keys.ts';
import { signDocument } from '../../src/protocol/signed-document.ts';
import { addKey, setKeyState } from '../../src/storage/registry/participants.ts';
import { catalogOf, openScene, type Scene, teas } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { newSigningKey } from '../support/hosted/published-tree.ts';
import { copyOf, oldCopy, only } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';
import { held } from '../support/network/discovery.ts';
import { defaultNetwork, startNetwork, type TestNetwork } from '../support/network/network.ts';
import type { Spoiler } from '../support/network/provider.ts';

// Sequences of events that are harmless on their own. After each, exactly the right content is served.

let network: TestNetwork;
let scene: Scene;

beforeAll(async () => {
  network = await startNetwork({ settings: { DISCOVERY_NETWORKS: JSON.stringify([defaultNetwork]) } });
});
afterAll(() => network?.close());

/** Compacts soon. */
const limits = { compactionChanges: 3, compactionFraction: 10 };
const subscriber = () => splitIdentity(scene.provider.identity);
const indexUrl = () => `${scene.provider.url}/index/catalogs.index.json`;

/** The catalog's currently published entry. */
async function entry(): Promise<Body> {
  const { catalogs } = JSON.parse((await copyOf(indexUrl())).body.toString());
  return catalogs[0];
}

describe('after', () => {
  beforeEach(async () => {
    scene = await openScene(network, { limits });
  });
  afterEach(() => scene.end());

  describe('an entry came whose key is usable only later', () => {
    it('key-unusable: the entry is taken then, although its index has not changed since', async () => {
      await scene.publish(0, 10);
      const { provider } = scene;
      const next = { ...newSigningKey('key-2'), subscriberId: provider.identity };
      await addKey(network.database, subscriber(), {
        ...{ recordId: 'key-2', publicKey: publicKeyOf(next.privateKey), ttlSeconds: 0 },
      });
      await setKeyState(network.database, subscriber(), 'suspended', 'key-2');
      provider.spoil(whereNew(forge(provider, {}, { signed: { entry: next } })));
      await scene.publish(1, 11);
      await scene.expectTold('key-unusable', { catalogId: scene.catalogId });
      expect(await scene.served()).toEqual(teas(0, 10));

      await setKeyState(network.database, subscriber(), 'live', 'key-2');
      await scene.look();
      expect(await scene.served()).toEqual(teas(1, 11));
    });

    /** Answers like a host: 304 to clients that have the file. */
    function whereNew(serve: Spoiler): Spoiler {
      return async (path, answer, response) => {
        const served = await serve(path, answer, response);
        if (typeof served !== 'object') return served;
        const isKnown = response.req.headers['if-none-match'] === served.headers?.etag;
        return isKnown ? { ...served, status: 304, body: Buffer.alloc(0) } : served;
      };
    }
  });

  describe('a key was rotated between a file and its entry', () => {
    async function rotateBetween(): Promise<void> {
      const { provider, catalogId } = scene;
      await provider.rotate('key-2');
      await provider.publish({ pause: [catalogId] });
      await provider.publish({ resume: [catalogId] });
    }

    it('whoever reads for the first time takes both: both keys are live', async () => {
      await scene.offer(0, 10);
      await rotateBetween();
      await scene.look();
      expect(await scene.served()).toEqual(teas(0, 10));
      const { rows } = await network.database.query(
        'select entry_key, content_keys from discovery.crawl_target where node = $1',
        [scene.provider.identity],
      );
      expect(rows).toEqual([{ entry_key: 'key-2', content_keys: ['key-1'] }]);
    });

    it('key-unusable: who has never verified the file takes it no more once its key has expired', async () => {
      await scene.offer(0, 10);
      await rotateBetween();
      await setKeyState(network.database, subscriber(), 'expired', 'key-1');
      await scene.look();
      expect(await scene.served()).toBeUndefined();
      await scene.expectTold('key-unusable', { catalogId: scene.catalogId, document: 'baseline' });
    });

    it('nothing is hidden from who verified the file before its key expired', async () => {
      await scene.publish(0, 10);
      await rotateBetween();
      await setKeyState(network.database, subscriber(), 'expired', 'key-1');
      await scene.publish(0, 11);
      expect(await scene.served()).toEqual(teas(0, 11));
    });
  });

  describe('a compaction', () => {
    it('that straddles the cursor, the changes that are still listed lead across it', async () => {
      await scene.publish(0, 10);
      for (let to = 11; to <= 14; to += 1) await scene.offer(0, to);
      const { baseline, changes } = await entry();
      expect(baseline.version).toBeGreaterThan(1);
      expect(changes.map(({ fromVersion }: Body) => fromVersion)).toContain(1);
      await scene.look();
      expect(await scene.served()).toEqual(teas(0, 14));
    });

    it('whose changes are gone, the new baseline leads across it', async () => {
      await scene.publish(0, 10);
      await scene.offer(0, 11);
      const catalogs = [catalogOf(scene.catalogId, 0, 12)];
      await scene.provider.publish({ forceBaseline: true, message: { catalogs } });
      const withoutChanges = (document: Body) => {
        document.changes = [];
      };
      scene.provider.spoil(forge(scene.provider, { entry: withoutChanges }));
      await scene.look();
      expect(await scene.served()).toEqual(teas(0, 12));
    });

    it('nothing is back that was removed before it', async () => {
      await scene.publish(0, 10);
      const later = [
        [2, 10],
        [2, 11],
        [3, 12],
        [3, 13],
      ] as const;
      for (const [from, to] of later) await scene.offer(from, to);
      await scene.look();
      expect(await scene.served()).toEqual(teas(3, 13));
    });

    it('at whose version the crawler is already, no file is fetched', async () => {
      await scene.publish(0, 10);
      for (let to = 11; to <= 13; to += 1) await scene.publish(0, to);
      scene.provider.requests.length = 0;
      await scene.look();
      expect(scene.provider.requests.filter(({ path }) => path.startsWith('/catalogs/'))).toEqual([]);
      expect(await scene.served()).toEqual(teas(0, 13));
    });
  });

  describe('a catalog was retired', () => {
    it('retired-returned: a newer entry that its node signs, with files and without retiredAt, brings nothing back', async () => {
      const { provider, catalogId } = scene;
      await scene.publish(0, 10);
      const before = await entry();
      await provider.publish({ retire: [catalogId] });
      await scene.look();
      const again = (document: Body) => {
        delete document.retiredAt;
        Object.assign(document, { baseline: before.baseline, entryVersion: document.entryVersion + 5 });
      };
      provider.spoil(forge(provider, { entry: again }));
      await scene.look();
      await scene.expectTold('retired-returned', { catalogId });
      expect(await scene.served()).toBeUndefined();
    });

    it('who meets it only then serves nothing of it, and asks for none of its files', async () => {
      const { provider, catalogId } = scene;
      await scene.offer(0, 10);
      await provider.publish({ retire: [catalogId] });
      await scene.look();
      expect(await scene.served()).toBeUndefined();
      expect(provider.requests.filter(({ path }) => path.startsWith('/catalogs/'))).toEqual([]);
    });
  });

  describe('a catalog was absent', () => {
    const hideEntries = (document: Body) => {
      document.catalogs = [];
    };

    it('its retirement counts when it is back', async () => {
      const { provider, catalogId } = scene;
      await scene.publish(0, 10);
      provider.spoil(forge(provider, { index: hideEntries }));
      await scene.look();
      expect(await scene.served()).toEqual(teas(0, 10));
      await provider.publish({ retire: [catalogId] });
      provider.spoil();
      await scene.look();
      expect(await scene.served()).toBeUndefined();
    });

    it('rollback: it is not taken back in an older version than was seen', async () => {
      const { provider, catalogId } = scene;
      await scene.publish(0, 10);
      const old = await copyOf(indexUrl());
      await scene.publish(1, 11);
      provider.spoil(forge(provider, { index: hideEntries }));
      await scene.look();
      provider.spoil(only('index', oldCopy(old)));
      await scene.look();
      await scene.expectTold('rollback', { catalogId });
      expect(await scene.served()).toEqual(teas(1, 11));
    });

    it('it is followed in another index of its node, where it came back', async () => {
      const { provider, catalogId } = scene;
      await scene.publish(0, 10);
      const { signature: _, ...known } = await entry();
      await provider.publish({ message: { catalogs: [catalogOf('another', 0, 3)] } }, 'second');
      await scene.look();
      const elsewhere = { ...known, entryVersion: known.entryVersion + 1, isActive: false };
      const index = (document: Body) => {
        const isSecond = document.catalogs[0].catalogId === 'another';
        document.catalogs = isSecond
          ? [...document.catalogs, signDocument(elsewhere, provider.tree.key, 'spec')]
          : [];
      };
      provider.spoil(forge(provider, { index }));
      await scene.look();
      const copy = await held(network.database, catalogId);
      expect(copy).toMatchObject({ served: true, head: { isActive: false } });
      expect(copy?.resources).toEqual(teas(0, 10));
    });
  });
});
