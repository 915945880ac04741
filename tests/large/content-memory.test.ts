import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IndexEntry } from '../../src/protocol/signed-files.ts';
import { createContentMemory } from '../../src/publisher/content-memory.ts';
import { pathOfUrl } from '../../src/publisher/paths.ts';
import { publishCatalogs } from '../../src/publisher/publish.ts';
import { contentOfBaseline } from '../../src/rules/self-hosted/content.ts';
import { makeTree, readTree, type TestTree } from '../support/hosted/published-tree.ts';

let tree: TestTree;

beforeEach(async () => {
  tree = await makeTree();
});
afterEach(() => tree.remove());

describe('what was published lately', () => {
  it('is known as long as its files are untouched', async () => {
    const entry = await publish('coffee');
    expect((await tree.memory.find(tree.root, entry))?.content.resources.size).toBe(3);
    const baseline = join(tree.root, pathOfUrl('baseline', entry.baseline?.url ?? ''));
    await utimes(baseline, new Date(0), new Date(0));
    expect(await tree.memory.find(tree.root, entry)).toBeUndefined();
  });

  it('is not taken for what other files make of it', async () => {
    const first = await publish('coffee');
    const second = await publish('coffee', 4);
    expect(await tree.memory.find(tree.root, first)).toBeUndefined();
    expect((await tree.memory.find(tree.root, second))?.content.resources.size).toBe(4);
  });

  it('is forgotten for what was published since, when together they are large', async () => {
    const memory = createContentMemory({ maxBytes: 5 * 1_048_576 });
    const content = contentOfBaseline({ version: 1, catalog: catalog('x', 1) });
    // Each takes two mebibytes, but far less on disk.
    const large = (catalogId: string) => publish(catalogId, (2 * 1_048_576) / '{"id":"r12345"},'.length);
    const entries = [await large('a'), await large('b'), await large('c')];
    for (const entry of entries) await memory.keep(tree.root, entry, { content });
    const known = await Promise.all(entries.map((entry) => memory.find(tree.root, entry)));
    expect(known.map((found) => found !== undefined)).toEqual([false, true, true]);
  });
});

async function publish(catalogId: string, size = 3): Promise<IndexEntry> {
  await publishCatalogs(tree, { message: { catalogs: [catalog(catalogId, size)] } });
  const published = (await readTree(tree)).get(catalogId);
  if (!published) throw new Error(`${catalogId} is not published`);
  return published.entry;
}

function catalog(id: string, size: number) {
  return {
    id,
    descriptor: { name: 'Coffee' },
    provider: { id: 'p', descriptor: { name: 'P' } },
    resources: Array.from({ length: size }, (_, index) => ({ id: `r${index}` })),
  };
}
