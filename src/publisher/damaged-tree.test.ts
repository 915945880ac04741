import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coffee, contentFiles, publish, published } from '../../tests/support/catalogs/published-coffee.ts';
import { makeTree, servedFiles, type TestTree } from '../../tests/support/hosted/published-tree.ts';
import { DamagedIndex } from './indexes.ts';
import { publishCatalogs } from './publish.ts';
import { refreshIndexes, resignEverything } from './renew-indexes.ts';

const hour = 3_600_000;
let tree: TestTree;
let now: Date;

beforeEach(async () => {
  now = new Date('2026-11-15T12:00:00.000Z');
  tree = await makeTree({ now: () => now });
});
afterEach(() => tree.remove());

describe('what a dead writer left', () => {
  it('is removed by the next one, and never counts as published', async () => {
    await publish(tree, coffee(30));
    const index = (await servedFiles(tree)).get('index/catalogs.index.json') ?? '';
    await publish(tree, coffee(31), { forceBaseline: true });
    await publishCatalogs(tree, { forceBaseline: true });
    await writeFile(join(tree.root, 'index/catalogs.index.json'), index); // as if neither had reached the index
    now = new Date(now.getTime() + 1);
    expect(await publish(tree, coffee(32))).toMatchObject({ version: 2 });
    const { entry } = await published(tree, 'coffee');
    expect(await contentFiles(tree)).toHaveLength(2);
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 } });
  });
});

describe('a baseline of the published version that a dead writer left', () => {
  it('does not make the cycle of superseded changes begin early', async () => {
    for (const size of [30, 31]) await publish(tree, coffee(size));
    const index = (await servedFiles(tree)).get('index/catalogs.index.json') ?? '';
    pass(1);
    await publishCatalogs(tree, { forceBaseline: true });
    await writeFile(join(tree.root, 'index/catalogs.index.json'), index);
    pass(20);
    await publish(tree, coffee(32), { forceBaseline: true });
    pass(10); // the one that never reached the index would be over, the other is not
    await refreshIndexes(tree);
    expect((await published(tree, 'coffee')).entry.changes.map(({ version }) => version)).toEqual([2]);
    pass(15);
    await refreshIndexes(tree);
    expect((await published(tree, 'coffee')).entry.changes).toEqual([]);
  });
});

describe('files that cannot be read back', () => {
  beforeEach(async () => {
    await publish(tree, coffee(30));
    await rm(join(tree.root, 'catalogs'), { recursive: true });
  });

  it('are replaced by a baseline of the next version when the catalog is published whole', async () => {
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee(30)] } });
    expect(answer).toMatchObject({
      results: [{ status: 'ACCEPTED', version: 2 }],
      warnings: [expect.any(String)],
    });
    expect((await published(tree, 'coffee')).held?.content.resources.size).toBe(30);
  });

  it('are replaced likewise when something else stands in their place', async () => {
    await publish(tree, coffee(30));
    await publish(tree, coffee(31));
    await publishCatalogs(tree, { forceBaseline: true });
    for (const path of await contentFiles(tree)) await writeFile(join(tree.root, path), 'not what it was');
    expect(await publish(tree, coffee(32))).toMatchObject({ status: 'ACCEPTED', version: 4 });
    expect((await published(tree, 'coffee')).held?.content.resources.size).toBe(32);
  });

  it('refuse what would have to know them', async () => {
    const { results } = await publishCatalogs(tree, {
      message: {
        catalogs: [coffee(1)],
        publishDirectives: [{ catalogId: 'coffee', catalogType: 'REGULAR', updateMode: 'MERGE' }],
      },
    });
    expect(results).toMatchObject([{ status: 'REJECTED' }]);
    const unreadable = {
      status: 'FAILED',
      results: [{ errors: [{ message: expect.stringContaining('files of coffee cannot be read back') }] }],
    };
    expect(await publishCatalogs(tree, { forceBaseline: true })).toMatchObject(unreadable);
    expect(await publishCatalogs(tree, { resume: ['coffee'] })).toMatchObject(unreadable);
    expect(await resignEverything(tree)).toMatchObject(unreadable);
  });
});

describe('an index that somebody else has written into', () => {
  it('is not signed by us', async () => {
    await publish(tree, coffee(3));
    const path = join(tree.root, 'index/catalogs.index.json');
    const index = JSON.parse((await servedFiles(tree)).get('index/catalogs.index.json')?.toString() ?? '');
    index.catalogs[0].isActive = false;
    await writeFile(path, JSON.stringify(index));
    await expect(publish(tree, coffee(4))).rejects.toThrow('changed after it was signed');
  });

  it.each(['{', '{}', '{"nodeId":"example.org","next_update":"2026-11-16T12:00:00Z","catalogs":[]}'])(
    'is no fault of what is to be published: %s',
    async (text) => {
      await publish(tree, coffee(3));
      await writeFile(join(tree.root, 'index/catalogs.index.json'), text);
      await expect(publish(tree, coffee(4))).rejects.toThrow(DamagedIndex);
    },
  );
});

function pass(hours: number): void {
  now = new Date(now.getTime() + hours * hour);
}
