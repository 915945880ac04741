import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  keysOf,
  makeTree,
  newSigningKey,
  readTree,
  servedFiles,
  type TestTree,
} from '../../tests/support/published-tree.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { TriggerRequest } from '../protocol/trigger-messages.ts';
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

describe('retiring a catalog', () => {
  it('is for ever: its id is refused from then on, and nothing leads to its files', async () => {
    await publish(coffee(3));
    expect(await ask({ retire: ['coffee'] })).toEqual({ catalogId: 'coffee', status: 'ACCEPTED' });
    const { entry } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 2, retiredAt: now.toISOString(), changes: [] });
    expect(entry).not.toHaveProperty('baseline');
    const before = await servedFiles(tree);
    for (const hours of [0, 1, 1000, 100_000]) {
      pass(hours);
      expect(await publish(coffee(3))).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ pause: ['coffee'] })).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ resume: ['coffee'] })).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ retire: ['coffee'] })).toMatchObject({ status: 'ACCEPTED' });
      await publishCatalogs(tree, { forceBaseline: true });
    }
    expect(await servedFiles(tree)).toEqual(before);
  });

  it('is refused for a catalog that was never published', async () => {
    expect(await ask({ retire: ['unknown'] })).toMatchObject({
      catalogId: 'unknown',
      status: 'REJECTED',
      errors: [{ message: expect.stringContaining('never published'), details: { path: '$.retire[0]' } }],
    });
  });

  it('is refused in another index than the one that it is in, which is named', async () => {
    await publish(coffee(3));
    const { results } = await publishCatalogs(tree, { retire: ['coffee'] }, 'south');
    expect(results).toMatchObject([
      { status: 'REJECTED', errors: [{ message: expect.stringContaining('is in the index catalogs') }] },
    ]);
    expect((await published('coffee')).entry).not.toHaveProperty('retiredAt');
  });

  it('removes the files when a cycle is over', async () => {
    await publish(coffee(3));
    await ask({ retire: ['coffee'] });
    pass(23);
    await refreshIndexes(tree);
    expect(await contentFiles()).toHaveLength(1);
    pass(2);
    await refreshIndexes(tree);
    expect(await contentFiles()).toEqual([]);
  });
});

describe('pausing and resuming', () => {
  it('changes the entry alone, and only once', async () => {
    await publish(coffee(3));
    expect(await ask({ pause: ['coffee'] })).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1 });
    await ask({ pause: ['coffee'] });
    expect((await published('coffee')).entry).toMatchObject({ entryVersion: 2, isActive: false });
    expect(await ask({ resume: ['coffee'] })).toEqual({
      catalogId: 'coffee',
      status: 'ACCEPTED',
      version: 1,
    });
    await ask({ resume: ['coffee'] });
    expect((await published('coffee')).entry).toMatchObject({ entryVersion: 3, isActive: true });
    expect(await contentFiles()).toHaveLength(1);
  });

  it('outlasts a publish that says nothing of it, but not one that does', async () => {
    await publish(coffee(3));
    await ask({ pause: ['coffee'] });
    await publish(coffee(4));
    expect((await published('coffee')).entry.isActive).toBe(false);
    await publish({ ...coffee(4), isActive: true });
    expect((await published('coffee')).entry.isActive).toBe(true);
  });

  it('follows isActive of the catalog, also when it is no longer there', async () => {
    await publish({ ...coffee(3), isActive: false });
    expect((await published('coffee')).entry.isActive).toBe(false);
    await publish(coffee(3));
    expect((await published('coffee')).entry.isActive).toBe(true);
  });

  it('makes a catalog active that calls itself inactive', async () => {
    await publish({ ...coffee(20), isActive: false });
    expect(await ask({ resume: ['coffee'] })).toMatchObject({ version: 2 });
    const { entry, held } = await published('coffee');
    expect([entry.isActive, held?.content.members.isActive]).toEqual([true, true]);
  });
});

describe('forceBaseline', () => {
  it('writes what changed as a baseline instead of a change file', async () => {
    await publish(coffee(20));
    await publish(coffee(21), { forceBaseline: true });
    const { entry, held } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 2 }, changes: [] });
    expect(held?.content.resources.size).toBe(21);
  });

  it('alone writes a baseline of the published version for every catalog', async () => {
    await publish(coffee(20));
    await publish(coffee(21));
    await publish({ ...coffee(2), id: 'tea' });
    const { results } = await publishCatalogs(tree, { forceBaseline: true });
    expect(results).toMatchObject([
      { catalogId: 'coffee', version: 2 },
      { catalogId: 'tea', version: 1 },
    ]);
    const { entry } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 3, baseline: { version: 2 } });
    expect(entry.changes.map(({ version }) => version)).toEqual([2]);
  });
});

describe('what was found sound before', () => {
  it('is checked again when what it is held against has changed, also after a MERGE', async () => {
    const strict = { check: () => [{ code: 'SCH_SCHEMA_VALIDATION_FAILED' as const, message: 'is wrong' }] };
    const lenient = { check: () => [] };
    let checker: typeof lenient | typeof strict = lenient;
    tree = { ...tree, schemas: { checker: () => checker } };
    const typed = { '@context': 'https://schema.example.org/Bean/v1/context.jsonld', '@type': 'Bean' };
    const sorts = { ...coffee(2), resources: [{ id: 'r0', resourceAttributes: typed }, { id: 'r1' }] };
    expect(await publish(sorts)).toMatchObject({ status: 'ACCEPTED' });
    checker = strict;
    const merged = await publishCatalogs(tree, {
      message: {
        catalogs: [{ ...sorts, resources: [{ id: 'r2' }] }],
        publishDirectives: [{ catalogId: 'coffee', catalogType: 'REGULAR', updateMode: 'MERGE' }],
      },
    });
    expect(merged.results).toMatchObject([{ status: 'ACCEPTED' }]);
    expect(await publish({ ...sorts, resources: [...sorts.resources, { id: 'r2' }] })).toMatchObject({
      status: 'REJECTED',
      errors: [{ message: 'is wrong' }],
    });
  });
});

describe('compaction', () => {
  it('writes a change and a baseline of the same version when the changes are many', async () => {
    tree = { ...tree, limits: { ...tree.limits, compactionChanges: 3 } };
    for (let size = 30; size < 34; size++) await publish(coffee(size));
    const { entry } = await published('coffee');
    expect(entry.baseline).toMatchObject({ version: 4 });
    expect(entry.changes.map(({ version }) => version)).toEqual([2, 3, 4]);
  });

  it('keeps the baseline before for the cycle that was announced with it, also where cycles have become shorter', async () => {
    const baselines = async () => (await contentFiles()).filter((path) => !path.includes('changes')).length;
    await publish(coffee(30));
    tree = { ...tree, limits: { ...tree.limits, nextUpdateSeconds: 60 } };
    pass(1);
    await publish(coffee(31), { forceBaseline: true });
    await refreshIndexes(tree);
    pass(22.9);
    await refreshIndexes(tree);
    expect(await baselines()).toBe(2);
    pass(0.2);
    await refreshIndexes(tree);
    expect(await baselines()).toBe(1);
  });

  it('lists no superseded change any longer whose file is not what it was', async () => {
    tree = { ...tree, limits: { ...tree.limits, compactionChanges: 2 } };
    for (const size of [30, 31, 32]) await publish(coffee(size));
    const [damaged = ''] = (await contentFiles()).filter((path) => path.includes('.v2.'));
    await writeFile(join(tree.root, damaged), '{}');
    await refreshIndexes(tree);
    expect((await published('coffee')).entry.changes.map(({ version }) => version)).toEqual([3]);
  });

  it('does so when they are large', async () => {
    await publish(coffee(10));
    await publish(coffee(20));
    expect((await published('coffee')).entry.baseline).toMatchObject({ version: 2 });
  });

  it('keeps superseded changes listed for a cycle and on the disk for another', async () => {
    tree = { ...tree, limits: { ...tree.limits, compactionChanges: 2 } };
    await publish(coffee(30));
    pass(5);
    await publish(coffee(31));
    pass(5);
    await publish(coffee(32)); // compaction at 10 h
    const listed = async () => (await published('coffee')).entry.changes.map(({ version }) => version);
    const onDisk = async () => (await readdir(join(tree.root, 'catalogs/changes'))).length;
    expect([await listed(), await onDisk()]).toEqual([[2, 3], 2]);
    pass(20);
    await publish(coffee(33)); // 30 h
    expect([await listed(), await onDisk()]).toEqual([[2, 3, 4], 3]);
    pass(3.9);
    await refreshIndexes(tree); // 33.9 h
    expect([await listed(), await onDisk()]).toEqual([[2, 3, 4], 3]);
    pass(0.2);
    await refreshIndexes(tree); // 34.1 h: the cycle is over
    expect([await listed(), await onDisk()]).toEqual([[4], 3]);
    expect((await published('coffee')).entry.entryVersion).toBe(5);
    pass(23.8);
    await refreshIndexes(tree); // 57.9 h
    expect(await onDisk()).toBe(3);
    pass(0.3);
    await refreshIndexes(tree); // 58.2 h: so is the other
    expect([await listed(), await onDisk()]).toEqual([[4], 1]);
  });

  it('counts the cycle of each change from the baseline that took it in first', async () => {
    await publish(coffee(30));
    await publish(coffee(31));
    await publishCatalogs(tree, { forceBaseline: true });
    for (let hours = 0; hours < 24; hours += 6) {
      pass(6);
      await publishCatalogs(tree, { forceBaseline: true });
    }
    pass(0.1);
    await publish(coffee(32));
    expect((await published('coffee')).entry.changes.map(({ version }) => version)).toEqual([3]);
  });
});

describe('what a dead writer left', () => {
  it('is removed by the next one, and never counts as published', async () => {
    await publish(coffee(30));
    const index = (await servedFiles(tree)).get('index/catalogs.index.json') ?? '';
    await publish(coffee(31), { forceBaseline: true });
    await publishCatalogs(tree, { forceBaseline: true });
    await writeFile(join(tree.root, 'index/catalogs.index.json'), index); // as if neither had come to the index
    now = new Date(now.getTime() + 1);
    expect(await publish(coffee(32))).toMatchObject({ version: 2 });
    const { entry } = await published('coffee');
    expect(await contentFiles()).toHaveLength(2);
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 } });
  });
});

describe('a baseline of the published version that a dead writer left', () => {
  it('does not make the cycle of superseded changes begin early', async () => {
    for (const size of [30, 31]) await publish(coffee(size));
    const index = (await servedFiles(tree)).get('index/catalogs.index.json') ?? '';
    pass(1);
    await publishCatalogs(tree, { forceBaseline: true });
    await writeFile(join(tree.root, 'index/catalogs.index.json'), index);
    pass(20);
    await publish(coffee(32), { forceBaseline: true });
    pass(10); // the one that never came to the index would be over, the other is not
    await refreshIndexes(tree);
    expect((await published('coffee')).entry.changes.map(({ version }) => version)).toEqual([2]);
    pass(15);
    await refreshIndexes(tree);
    expect((await published('coffee')).entry.changes).toEqual([]);
  });
});

describe('files that cannot be read back', () => {
  beforeEach(async () => {
    await publish(coffee(30));
    await rm(join(tree.root, 'catalogs'), { recursive: true });
  });

  it('are replaced by a baseline of the next version when the catalog is published whole', async () => {
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee(30)] } });
    expect(answer).toMatchObject({
      results: [{ status: 'ACCEPTED', version: 2 }],
      warnings: [expect.any(String)],
    });
    expect((await published('coffee')).held?.content.resources.size).toBe(30);
  });

  it('are replaced likewise when something else stands in their place', async () => {
    await publish(coffee(30));
    await publish(coffee(31));
    await publishCatalogs(tree, { forceBaseline: true });
    for (const path of await contentFiles()) await writeFile(join(tree.root, path), 'not what it was');
    expect(await publish(coffee(32))).toMatchObject({ status: 'ACCEPTED', version: 4 });
    expect((await published('coffee')).held?.content.resources.size).toBe(32);
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
    await publish(coffee(3));
    const path = join(tree.root, 'index/catalogs.index.json');
    const index = JSON.parse((await servedFiles(tree)).get('index/catalogs.index.json')?.toString() ?? '');
    index.catalogs[0].isActive = false;
    await writeFile(path, JSON.stringify(index));
    await expect(publish(coffee(4))).rejects.toThrow('not as we signed it');
  });

  it.each(['{', '{}', '{"nodeId":"example.org","next_update":"2026-11-16T12:00:00Z","catalogs":[]}'])(
    'is no fault of what is to be published: %s',
    async (text) => {
      await publish(coffee(3));
      await writeFile(join(tree.root, 'index/catalogs.index.json'), text);
      await expect(publish(coffee(4))).rejects.toThrow(DamagedIndex);
    },
  );
});

describe('another key', () => {
  it('signs what is new; what was published before stays as it is', async () => {
    const first = tree.key;
    await publish(coffee(30));
    tree = { ...tree, key: newSigningKey('key-2') };
    await publish(coffee(31));
    await publish({ ...coffee(1), id: 'tea' });
    const read = await readTree(tree, { keys: keysOf(first, tree.key) });
    expect(read.get('coffee')?.held?.content.resources.size).toBe(31);
    await expect(readTree(tree)).rejects.toThrow('key-1');
  });

  it('signs everything anew after the one before was compromised', async () => {
    for (const size of [30, 31, 32]) await publish(coffee(size));
    await publish({ ...coffee(1), id: 'tea' });
    await ask({ retire: ['tea'] });
    tree = { ...tree, key: newSigningKey('key-2') };
    const { results } = await resignEverything(tree);
    expect(results).toEqual([
      { catalogId: 'coffee', status: 'ACCEPTED', version: 3 },
      { catalogId: 'tea', status: 'ACCEPTED' },
    ]);
    const read = await readTree(tree);
    expect(read.get('coffee')?.entry).toMatchObject({
      entryVersion: 4,
      baseline: { version: 3 },
      changes: [],
    });
    expect(read.get('tea')?.entry).toMatchObject({ entryVersion: 3, retiredAt: now.toISOString() });
  });
});

describe('another base address', () => {
  it('is what the entries name from the next refresh on', async () => {
    for (const size of [30, 31]) await publish(coffee(size));
    tree = { ...tree, baseUrl: 'https://cdn.example.org/' };
    await refreshIndexes(tree);
    tree = { ...tree, baseUrl: 'https://cdn.example.org' };
    expect((await published('coffee')).held?.content.resources.size).toBe(31);
  });

  it('is also where those who extend a master resource are sent for its index', async () => {
    const directives = (catalogId: string, masterResourceId: string) => {
      return [
        { catalogId: 'masters', catalogType: 'MASTER' as const },
        {
          catalogId,
          catalogType: 'REGULAR' as const,
          resourceDirectives: [{ resourceId: 'r0', extends: { masterResourceId } }],
        },
      ];
    };
    const masters = { ...coffee(0), id: 'masters', resources: [{ id: 'm0' }] };
    await publishCatalogs(tree, {
      message: { catalogs: [masters, coffee(1)], publishDirectives: directives('coffee', 'm0') },
    });
    tree = { ...tree, baseUrl: 'https://cdn.example.org' };
    await refreshIndexes(tree);
    expect((await published('coffee')).entry.dependencies?.masters).toEqual([
      { catalogId: 'masters', version: 1, indexUrl: 'https://cdn.example.org/index/catalogs.index.json' },
    ]);
  });
});

async function publish(catalog: Catalog, request: TriggerRequest = {}) {
  const { results } = await publishCatalogs(tree, { message: { catalogs: [catalog] }, ...request });
  return results[0];
}

async function ask(request: TriggerRequest) {
  const { results } = await publishCatalogs(tree, request);
  return results[0];
}

async function published(catalogId: string) {
  const catalog = (await readTree(tree)).get(catalogId);
  if (!catalog) throw new Error(`${catalogId} is not published`);
  return catalog;
}

async function contentFiles(): Promise<string[]> {
  return [...(await servedFiles(tree)).keys()].filter((path) => path.startsWith('catalogs/'));
}

function pass(hours: number): void {
  now = new Date(now.getTime() + hours * hour);
}

function coffee(size: number) {
  return {
    id: 'coffee',
    descriptor: { name: 'Coffee' },
    provider: { id: 'p1', descriptor: { name: 'A roaster' } },
    resources: Array.from({ length: size }, (_, index) => {
      return { id: `r${index}`, descriptor: { name: `Roast ${index}` } };
    }),
  };
}
