import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeTree,
  newSigningKey,
  servedFiles,
  type TestTree,
} from '../../tests/support/hosted/published-tree.ts';
import { DamagedIndex } from './indexes.ts';
import { renewManifest } from './keep-manifest.ts';
import { publishCatalogs } from './publish.ts';
import type { PublisherTree } from './tree.ts';

const url = 'https://example.org';
let tree: TestTree;

beforeEach(async () => {
  tree = await makeTree();
  await publish(tree, 'coffee');
  await publish(tree, 'tea', 'drinks');
});
afterEach(() => tree.remove());

describe('an index that is gone', () => {
  it('is missed while the Subscriber record lists it, and nothing is written in its place', async () => {
    await renewManifest(tree, { url });
    await rm(join(tree.root, 'index/drinks.index.json'));
    const before = await servedFiles(tree);
    await expect(publish(tree, 'tea')).rejects.toThrow(/drinks\.index\.json is missing, but .* lists it/);
    await expect(publish(tree, 'coffee')).rejects.toThrow(DamagedIndex);
    expect(await servedFiles(tree)).toEqual(before);
  });

  it('is missed also under another base address than the one that it was listed with', async () => {
    await renewManifest(tree, { url });
    await rm(join(tree.root, 'index/catalogs.index.json'));
    const elsewhere = { ...tree, baseUrl: 'https://elsewhere.example.org' };
    await expect(publish(elsewhere, 'coffee')).rejects.toThrow(DamagedIndex);
  });

  it('is not missed once the manifest is gone too', async () => {
    await renewManifest(tree, { url });
    await rm(join(tree.root, 'index/drinks.index.json'));
    await rm(join(tree.root, '.well-known'), { recursive: true });
    await publish(tree, 'coffee');
  });
});

describe('an index that does not belong here', () => {
  it('is not taken over when it is the one of another node', async () => {
    const other = await makeTree({ nodeId: 'other.example.org', key: newSigningKey('key-7') });
    await publish(other, 'milk');
    await copyFile(join(other.root, 'index/catalogs.index.json'), join(tree.root, 'index/milk.index.json'));
    await expect(publish(tree, 'coffee')).rejects.toThrow(
      /milk\.index\.json is the index of other\.example\.org, but this node is example\.org/,
    );
    await other.remove();
  });

  it('may call the node by its whole identity', async () => {
    await publish({ ...tree, nodeId: `example.org/${tree.registryName}` }, 'coffee');
  });

  it('is refused when it is a copy of another one', async () => {
    await copyFile(join(tree.root, 'index/catalogs.index.json'), join(tree.root, 'index/backup.index.json'));
    await expect(publish(tree, 'coffee')).rejects.toThrow(
      /backup\.index\.json and .*catalogs\.index\.json both list coffee\. Remove the one that is a copy\./,
    );
  });
});

function publish(into: PublisherTree, id: string, indexName?: string) {
  const provider = { id: 'p', descriptor: { name: 'P' } };
  const catalog = { id, descriptor: { name: id }, provider, resources: [{ id: 'r' }] };
  return publishCatalogs(into, { message: { catalogs: [catalog] } }, indexName);
}
