import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { splitIdentity } from '../../src/protocol/identity.ts';
import { signDocument } from '../../src/protocol/signed-document.ts';
import { resignEverything } from '../../src/publisher/renew-indexes.ts';
import { configureSources } from '../../src/storage/crawl/sources.ts';
import { setKeyState } from '../../src/storage/registry/participants.ts';
import { settled } from '../support/hosted/crawl.ts';
import { catalogOf, type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { forge } from '../support/hosted/forged-node.ts';
import { copyOf, gzipBomb, oldCopy, only } from '../support/hosted/tampering.ts';
import type { Spoiler } from '../support/hosted/tampering-proxy.ts';
import type { Body } from '../support/network/actor.ts';
import { defaultNetwork } from '../support/network/network.ts';

// Combinations: a revoked key and several indexes, a replay and a removed catalog, a removed entry and due work.

let scene: Scene;
const network = useScenes((opened) => {
  scene = opened;
});

const revoke = (recordId: string) =>
  setKeyState(network().database, splitIdentity(scene.provider.identity), 'revoked', recordId);

const publishFor = (visibleTo: string[], from: number, to: number) =>
  scene.provider.publish({
    message: {
      catalogs: [catalogOf(scene.catalogId, from, to)],
      publishDirectives: [{ catalogId: scene.catalogId, catalogType: 'REGULAR', visibleTo }],
    },
  });

describe('a key that is revoked', () => {
  it('hides nothing that was signed anew before', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    await provider.rotate('key-2');
    await resignEverything(provider.tree);
    await scene.look();
    await revoke('key-1');
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
  });

  it('hides what it signed also while another index of the node is polled, of which it signed nothing', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    await provider.rotate('key-2');
    await provider.publish({ message: { catalogs: [catalogOf(`${scene.catalogId}-b`, 0, 3)] } }, 'second');
    await scene.look();
    await revoke('key-1');
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    await network().database.query(
      "update discovery.crawl_index set due_at = now() where url like '%second%'",
    );
    await network().database.query('update discovery.crawl_host set due_at = now(), rest_until = null');
    await settled(network().database);
    expect(await scene.served()).toBeUndefined();
    expect(await scene.served(`${scene.catalogId}-b`)).toEqual(teas(0, 3));
  });

  it('hides what it signed also when that is in no index any more', async () => {
    const { provider } = scene;
    await scene.publish(0, 10);
    await provider.rotate('key-2');
    await provider.publish({ message: { catalogs: [catalogOf(`${scene.catalogId}-b`, 0, 3)] } });
    await scene.look();
    const index = (document: Body) => {
      document.catalogs = document.catalogs.filter(({ catalogId }: Body) => catalogId !== scene.catalogId);
    };
    provider.spoil(forge(provider, { index }));
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
    await revoke('key-1');
    await scene.look();
    expect(await scene.served()).toBeUndefined();
  });
});

describe('a catalog that has left our networks', () => {
  it('rollback: does not come back with an old index', async () => {
    const { provider, catalogId } = scene;
    await publishFor([defaultNetwork], 0, 10);
    await scene.look();
    const old = await copyOf(`${provider.url}/index/catalogs.index.json`);
    await publishFor(['other.example/net'], 0, 10);
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    provider.spoil(only('index', oldCopy(old)));
    await scene.look();
    await scene.expectTold('rollback', { catalogId });
    expect(await scene.served()).toBeUndefined();
    provider.spoil();
    await publishFor([defaultNetwork], 0, 10);
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
  });

  it('rollback: nor does one whose older entries were for us, but that was never served', async () => {
    const { provider, catalogId } = scene;
    await publishFor([defaultNetwork], 0, 10);
    const old = await copyOf(`${provider.url}/index/catalogs.index.json`);
    await publishFor(['other.example/net'], 0, 10);
    await scene.look();
    provider.spoil(only('index', oldCopy(old)));
    await scene.look();
    await scene.expectTold('rollback', { catalogId });
    expect(await scene.served()).toBeUndefined();
  });
});

describe('a catalog that has come to our networks', () => {
  it('rollback: is not taken away by an old index, in which it was for others', async () => {
    const { provider, catalogId } = scene;
    await publishFor(['other.example/net'], 0, 10);
    const old = await copyOf(`${provider.url}/index/catalogs.index.json`);
    await publishFor([defaultNetwork], 0, 10);
    await scene.look();
    provider.spoil(only('index', oldCopy(old)));
    await scene.look();
    await scene.expectTold('rollback', { catalogId });
    expect(await scene.served()).toEqual(teas(0, 10));
  });
});

describe('an entry that is gone', () => {
  const nothing = (document: Body) => {
    document.catalogs = [];
  };

  it('leaves no work that nobody does: that of a retired catalog, when all is judged again', async () => {
    const { provider, catalogId } = scene;
    await scene.publish(0, 10);
    await provider.publish({ retire: [catalogId] });
    await scene.look();
    provider.spoil(forge(provider, { index: nothing }));
    await scene.look();
    const settings = { sources: [{ kind: 'network', name: defaultNetwork }] as const, policy: 'another' };
    await network().database.transaction((tx) =>
      configureSources(tx, { ...settings, hideUnconfirmed: false }),
    );
    await scene.look();
    expect(await scene.served()).toBeUndefined();
  });

  it('leaves no work that nobody does: that of a spoiled file, while another index of the node is not to be had', async () => {
    const { provider, catalogId } = scene;
    await scene.offer(0, 10);
    const record = ({ records: [{ meta }] }: Body) => {
      meta.catalog_index_urls.push({ url: `${provider.url}/nothing.json` });
    };
    const entry = (document: Body) => {
      document.baseline.digest = `sha256:${'0'.repeat(64)}`;
    };
    provider.spoil(forge(provider, { record, entry }));
    await scene.look();
    await scene.expectTold('digest-mismatch', { catalogId });
    provider.spoil(forge(provider, { record, index: nothing }));
    await scene.look();
    await scene.look();
    expect(await scene.served()).toBeUndefined();
  });
});

describe('retiredAt', () => {
  it('counts in whichever index of the node it is seen, also where another has a higher version', async () => {
    const { provider, catalogId } = scene;
    await provider.publish({ message: { catalogs: [catalogOf(`${catalogId}-b`, 0, 3)] } }, 'second');
    await scene.publish(0, 10);
    const retired = { catalogId, entryVersion: 0, catalogType: 'REGULAR', isActive: true, changes: [] };
    const index = (document: Body) => {
      if (document.catalogs[0].catalogId === catalogId) return;
      const entry = { ...retired, retiredAt: '2026-01-01T00:00:00Z' };
      document.catalogs.push(signDocument(entry, provider.tree.key, 'spec'));
    };
    provider.spoil(forge(provider, { index }));
    await scene.look();
    expect(await scene.served()).toBeUndefined();
    provider.spoil();
    await scene.publish(1, 11);
    await scene.expectTold('retired-returned', { catalogId });
    expect(await scene.served()).toBeUndefined();
  });
});

describe('a host of files that is down', () => {
  it('unreachable: holds up nothing that is at the host of the node', async () => {
    const { provider, catalogId } = scene;
    const lost = `${catalogId}-lost`;
    await scene.offer(0, 10);
    await provider.publish({ message: { catalogs: [catalogOf(lost, 0, 3)] } });
    const elsewhere = 'http://127.0.0.1:1/baseline.json';
    const index = (document: Body) => {
      document.catalogs = document.catalogs.map(({ signature: _, ...entry }: Body) => {
        const isLost = entry.catalogId === lost;
        const baseline = isLost ? { ...entry.baseline, url: elsewhere } : entry.baseline;
        return signDocument({ ...entry, baseline }, provider.tree.key, 'spec');
      });
    };
    provider.spoil(forge(provider, { index }));
    await scene.look();
    await scene.expectTold('unreachable', { catalogId: lost, url: elsewhere });
    expect(await scene.served()).toEqual(teas(0, 10));
    const { rows } = await network().database.query(
      `select host.failures, rest_until from discovery.crawl_host as host join discovery.crawl_node on host_id = host.id where node = $1`,
      [provider.identity],
    );
    expect(rows).toEqual([{ failures: 0, rest_until: null }]);
  });
});

describe('a file that claims to be small', () => {
  it('is verified aside when it turns out to be large: several parts, of which the last tells the size', async () => {
    const { provider } = scene;
    const inParts = (document: Body) => {
      const bytes = Buffer.from(JSON.stringify(document));
      const first = Buffer.concat([bytes.subarray(0, 1), Buffer.alloc(60_000_000, ' ')]);
      return Buffer.concat([gzipSync(first), gzipSync(bytes.subarray(1))]);
    };
    await scene.offer(0, 10);
    const kept = new Map<string, ReturnType<Spoiler>>();
    const forged = forge(
      provider,
      {},
      {
        hand: {
          write: (kind, document) =>
            kind === 'baseline' ? inParts(document) : Buffer.from(JSON.stringify(document)),
        },
      },
    );
    // Made in advance, because this process also runs the crawler.
    provider.spoil((path, answer, response) => {
      const made = kept.get(path) ?? forged(path, answer, response);
      kept.set(path, made);
      return made;
    });
    const index: Body = await (await fetch(`${provider.url}/index/catalogs.index.json`)).json();
    await (await fetch(index.catalogs[0].baseline.url)).arrayBuffer();
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    await scene.look();
    expect(await scene.served()).toEqual(teas(0, 10));
    expect(delays.max / 1e6).toBeLessThan(4_000);
  });

  it('inflates-too-large: is refused where it is a manifest, which is small', async () => {
    scene.provider.spoil(only('manifest', gzipBomb(2_000_000)));
    await scene.provider.register();
    await scene.look();
    await scene.expectTold('inflates-too-large');
  });
});

describe('what no database can keep', () => {
  it('bad-url: an index at an address that is too long is told', async () => {
    const record = (document: Body) => {
      const url = `${scene.provider.url}/${randomText}`;
      document.records[0].meta.catalog_index_urls.push({ url });
    };
    await scene.offer(0, 10);
    scene.provider.spoil(forge(scene.provider, { record }));
    await scene.look();
    await scene.expectTold('bad-url');
  });

  it('a validity that begins before the first year, or ends after 9999, is one that begins and ends there', async () => {
    const validity = { startDate: '0000-01-01T00:00:00+23:59', endDate: '9999-12-31T23:59:59-23:59' };
    await scene.publish(0, 10, { validity });
    expect(await scene.served()).toEqual(teas(0, 10));
  });
});

const randomText = randomBytes(4_000).toString('hex');
