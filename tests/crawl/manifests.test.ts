import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { sha256Digest } from '../../src/protocol/digest.ts';
import { proveDocument } from '../../src/protocol/signed-document.ts';
import { type Scene, teas, useScenes } from '../support/hosted/crawl-scene.ts';
import { kindOf } from '../support/hosted/tampering.ts';
import type { Spoiler } from '../support/hosted/tampering-proxy.ts';
import type { Body } from '../support/network/actor.ts';

// DeDi's newer manifests, and the flat Subscriber record of the specification, read by the whole crawler over HTTP.

let scene: Scene;
useScenes((opened) => {
  scene = opened;
});

/** The time at which the digests document claims to have been written. */
let updatedAt: string;
beforeEach(() => {
  updatedAt = '2026-03-01T12:00:00Z';
});

const prove = (document: Body): Body => proveDocument(document, scene.provider.tree.key);
const answer = (document: Body) => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify(document)),
});

/** Rewrites the manifest with the given function, which also gets the record that the manifest names, and signs it again. */
function rewriting(
  rewrite: (manifest: Body, record: Buffer) => Promise<void> | void,
  more?: Spoiler,
): Spoiler {
  return async (path, served, response) => {
    if (kindOf(path) !== 'manifest') return more?.(path, served, response);
    const { proof: _, ...manifest } = JSON.parse(served.body.toString());
    const { root, baseUrl } = scene.provider.tree;
    const record = await readFile(join(root, manifest.files[0].url.slice(baseUrl.length)));
    await rewrite(manifest, record);
    return answer(prove(manifest));
  };
}

it('reads a record that stands in the manifest itself', async () => {
  scene.provider.spoil(
    rewriting((manifest, record) => {
      manifest.files = [JSON.parse(record.toString())];
    }),
  );
  await scene.publish(0, 10);
  expect(await scene.lines()).toEqual([]);
  expect(await scene.served()).toEqual(teas(0, 10));
});

it('reads the flat record of the specification', async () => {
  const flat = () =>
    answer({
      ...{ subscriber_id: scene.provider.id, type: 'BPP', url: scene.provider.url },
      meta: { catalog_index_urls: [{ url: `${scene.provider.url}/index/catalogs.index.json` }] },
    });
  scene.provider.spoil(
    rewriting(
      (manifest) => {
        manifest.files[0].digest = sha256Digest(flat().body);
      },
      (path) => (kindOf(path) === 'record' ? flat() : undefined),
    ),
  );
  await scene.publish(0, 10);
  expect(await scene.lines()).toEqual([]);
  expect(await scene.served()).toEqual(teas(0, 10));
});

it('rollback: finds the digest in the digests document of the manifest, and refuses an older one', async () => {
  let digest = '';
  const digests = () =>
    prove({
      ...{ dedi_version: '0.1', type: 'dedi-digests', domain: scene.provider.id },
      ...{ updated_at: updatedAt, next_update: '2099-01-01T00:00:00Z' },
      digests: { beckn_subscriber: digest },
    });
  scene.provider.spoil(
    rewriting(
      (manifest, record) => {
        digest = sha256Digest(record);
        delete manifest.files[0].digest;
        Object.assign(manifest, {
          digests: `${scene.provider.url}/dedi/digests.json`,
          domain: scene.provider.id,
        });
      },
      (path) => (path === '/dedi/digests.json' ? answer(digests()) : undefined),
    ),
  );
  await scene.publish(0, 10);
  expect(await scene.lines()).toEqual([]);
  expect(await scene.served()).toEqual(teas(0, 10));

  updatedAt = '2026-02-01T12:00:00Z';
  await scene.publish(1, 11);
  await scene.expectTold('rollback');
});
