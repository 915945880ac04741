import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTree, type TestTree } from '../../tests/support/hosted/published-tree.ts';
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

describe('what is no file but has the name of one', () => {
  const small = (id: string, name: string) => {
    return {
      id,
      descriptor: { name },
      provider: { id: 'p', descriptor: { name: 'P' } },
      resources: [{ id: 'r' }],
    };
  };
  const publish = (name: string, forceBaseline = false) =>
    publishCatalogs(tree, { message: { catalogs: [small('coffee', name)] }, forceBaseline });

  it('keeps nobody waiting and is left alone, where no entry leads to it', async () => {
    await publish('one');
    const stem = join(tree.root, `catalogs/${localName('coffee')}`);
    execFileSync('mkfifo', [`${stem}.v9.0123456789ab.json`]);
    await mkdir(`${stem}.v8.0123456789ab.json`);
    expect((await publish('two', true)).results).toMatchObject([{ status: 'ACCEPTED', version: 2 }]);
    expect((await publish('three')).results).toMatchObject([{ status: 'ACCEPTED', version: 3 }]);
  });

  it('counts as damaged where an entry leads to it', async () => {
    await publish('one');
    const [file] = (await listContentFiles(tree)).get(localName('coffee')) ?? [];
    const path = join(tree.root, file?.path ?? '');
    await rm(path);
    execFileSync('mkfifo', [path]);
    const { results, warnings } = await publish('two');
    expect(results).toMatchObject([{ status: 'ACCEPTED', version: 2 }]);
    expect(warnings).toEqual([expect.stringContaining('cannot be read back')]);
  });
});
