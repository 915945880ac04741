import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTree, type TestTree } from '../../tests/support/published-tree.ts';
import { localName } from './paths.ts';
import { publishCatalogs } from './publish.ts';
import { listContentFiles, readBaselines } from './read-content.ts';

const now = new Date('2026-11-15T12:00:00.000Z');
let tree: TestTree;

beforeEach(async () => {
  tree = await makeTree({ now: () => now });
});
afterEach(() => tree.remove());

describe('baselines on the disk', () => {
  it.each([
    ['plain', 10],
    ['gzipped', 30_000],
  ])('tell when they were written: %s ones, and whatever their catalog is called', async (_, length) => {
    const ids = ['coffee', '"catalog":,"catalog":', '\\,"catalog":{}', '\u{1f600}'.repeat(256)];
    const catalogs = ids.map((id) => ({
      id,
      descriptor: { name: 'Coffee' },
      provider: { id: 'p', descriptor: { name: 'P' } },
      resources: Array.from({ length: 40 }, (_, index) => {
        return { id: `r${index}`, descriptor: { longDesc: `${index} `.repeat(length) } };
      }),
    }));
    await publishCatalogs(tree, { message: { catalogs } });
    const files = await listContentFiles(tree);
    for (const id of ids) {
      const own = files.get(localName(id)) ?? [];
      expect(own.map(({ path }) => path.endsWith('.gz'))).toEqual([length > 1000]);
      expect(await readBaselines(tree, own)).toMatchObject([
        { version: 1, cycleEnd: new Date('2026-11-16T12:00:00.000Z') },
      ]);
    }
  });
});
