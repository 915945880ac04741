import { describe, expect, it } from 'vitest';
import { catalogOf, type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { type ForgeryOptions, forge } from '../support/hosted/forged-node.ts';
import { copyOf } from '../support/hosted/tampering.ts';
import type { Body } from '../support/network/actor.ts';

// Faults of an entry of an index (self-hosted spec: Errors): the entry is discarded with its files, and the others count.

let scene: Scene;
useScenes((opened) => {
  scene = opened;
});

describe('an entry of an index', () => {
  const other = () => `${scene.catalogId}-other`;

  /** Publishes two catalogs, then new versions of both, one of them spoiled. */
  async function spoilEntry(change: (entry: Body) => void, options?: ForgeryOptions): Promise<void> {
    const { provider, catalogId } = scene;
    await provider.publish({ message: { catalogs: [catalogOf(other(), 0, 10)] } });
    await scene.publish(0, 10);
    const entry = (document: Body) => {
      if (document.catalogId === catalogId) change(document);
    };
    provider.spoil(forge(provider, { entry }, options));
    await provider.publish({ message: { catalogs: [catalogOf(other(), 1, 11)] } });
    await scene.publish(1, 11);
  }

  it.each<[code: string, what: string, change: (entry: Body) => void, options?: ForgeryOptions]>([
    [
      'signature-invalid',
      'whose signature fails',
      (entry) => {
        entry.isActive = false;
      },
      { signed: { entry: 'as it was' } },
    ],
    [
      'signature-missing',
      'that is not signed',
      (entry) => {
        delete entry.signature;
      },
      { signed: { entry: 'as it was' } },
    ],
    [
      'malformed',
      'that lacks a member',
      (entry) => {
        delete entry.entryVersion;
      },
    ],
  ])('%s: %s is discarded with its files; others count', async (code, _what, change, options) => {
    await spoilEntry(change, options);
    expect(await scene.served()).toEqual(teas(0, 10));
    expect(await scene.served(other())).toEqual(teas(1, 11));
    await scene.expectTold(code, { document: 'entry', catalogId: scene.catalogId });

    scene.provider.spoil();
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
  });

  it('entry-twice: that is there twice counts in neither form; others count', async () => {
    const { provider, catalogId } = scene;
    await provider.publish({ message: { catalogs: [catalogOf(other(), 0, 10)] } });
    await scene.publish(0, 10);
    const index = ({ catalogs }: Body) =>
      void catalogs.push(...catalogs.filter((entry: Body) => entry.catalogId === catalogId));
    provider.spoil(forge(provider, { index }));
    await provider.publish({ message: { catalogs: [catalogOf(other(), 1, 11)] } });
    await scene.publish(1, 11);
    expect(await scene.served()).toEqual(teas(0, 10));
    expect(await scene.served(other())).toEqual(teas(1, 11));
    await scene.expectTold('entry-twice', { document: 'entry', catalogId });
  });

  it('gap: that announces what no file leads to is not followed', async () => {
    await spoilEntry((entry) => {
      entry.changes[0].fromVersion += 1;
      entry.changes[0].toVersion += 1;
      entry.changes[0].version += 1;
    });
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('gap', { catalogId: scene.catalogId });
  });

  it('in-two-indexes: that a second index of the node has, too, is told; the newer of them counts', async () => {
    const { provider, catalogId } = scene;
    await provider.publish({ message: { catalogs: [catalogOf(other(), 0, 3)] } }, 'second');
    await scene.publish(0, 10);
    const { catalogs } = JSON.parse(
      (await copyOf(`${provider.url}/index/catalogs.index.json`)).body.toString(),
    );
    const [older] = catalogs;
    await scene.publish(1, 11);
    const index = (document: Body) => {
      if (document.catalogs[0].catalogId === other()) document.catalogs.push(older);
    };
    provider.spoil(forge(provider, { index }));
    await scene.look();
    expect(await scene.served()).toEqual(teas(1, 11));
    await scene.expectTold('in-two-indexes', { catalogId });
  });

  it('type-changed: that becomes a MASTER is not followed', async () => {
    await spoilEntry((entry) => {
      entry.catalogType = 'MASTER';
    });
    expect(await scene.served()).toEqual(teas(0, 10));
    await scene.expectTold('type-changed', { catalogId: scene.catalogId });
  });
});
