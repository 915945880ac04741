import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coffee, contentFiles, publish, published } from '../../tests/support/catalogs/published-coffee.ts';
import { makeTree, servedFiles, type TestTree } from '../../tests/support/hosted/published-tree.ts';
import type { JsonObject } from '../protocol/json.ts';
import { signDocument } from '../protocol/signed-document.ts';
import type { TriggerRequest } from '../protocol/trigger-messages.ts';
import { readIndexes } from './indexes.ts';
import { publishCatalogs } from './publish.ts';
import { refreshIndexes, resignEverything } from './renew-indexes.ts';

// Commands of the trigger other than publish. Longer than our other tests: a case for each command and each initial state.

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
    await publish(tree, coffee(3));
    expect(await ask({ retire: ['coffee'] })).toEqual({ catalogId: 'coffee', status: 'ACCEPTED' });
    const { entry } = await published(tree, 'coffee');
    expect(entry).toMatchObject({ entryVersion: 2, retiredAt: now.toISOString(), changes: [] });
    expect(entry).not.toHaveProperty('baseline');
    const before = await servedFiles(tree);
    for (const hours of [0, 1, 1000, 100_000]) {
      pass(hours);
      expect(await publish(tree, coffee(3))).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ pause: ['coffee'] })).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ resume: ['coffee'] })).toMatchObject({ status: 'REJECTED' });
      expect(await ask({ retire: ['coffee'] })).toMatchObject({ status: 'ACCEPTED', unchanged: true });
      await publishCatalogs(tree, { forceBaseline: true });
    }
    expect(await servedFiles(tree)).toEqual(before);
  });

  it('is written as its end alone: the entry says neither whether it is active nor where files are', async () => {
    await publish(tree, coffee(3));
    await ask({ pause: ['coffee'] });
    await ask({ retire: ['coffee'] });
    const signature = expect.stringMatching(/^[\w-]+\.\.[\w-]+$/);
    const end = { ...{ catalogId: 'coffee', entryVersion: 3, catalogType: 'REGULAR' }, signature };
    expect(await writtenEntries()).toEqual([{ ...end, retiredAt: now.toISOString() }]);
    // The index is written again with other publishes, and the entry is still valid.
    await publish(tree, { ...coffee(2), id: 'tea' });
    expect(await writtenEntries()).toMatchObject([
      { ...end, retiredAt: now.toISOString() },
      { catalogId: 'tea' },
    ]);
    expect((await published(tree, 'coffee')).entry.retiredAt).toBe(now.toISOString());
  });

  it('leaves entries alone that were retired in the older form, with isActive and no changes', async () => {
    await publish(tree, coffee(3));
    const [{ baseline: _, ...entry } = {}] = await writtenEntries();
    const retiredAt = '2026-01-31T00:00:00.000Z';
    const older = signDocument({ ...entry, isActive: false, retiredAt, changes: [] }, tree.key, tree.profile);
    const next_update = new Date(now.getTime() + hour).toISOString();
    const index = signDocument(
      { nodeId: tree.nodeId, next_update, catalogs: [older] },
      tree.key,
      tree.profile,
    );
    await writeFile(join(tree.root, 'index/catalogs.index.json'), JSON.stringify(index));
    expect(await publish(tree, coffee(3))).toMatchObject({ status: 'REJECTED' });
    expect(await ask({ retire: ['coffee'] })).toMatchObject({ status: 'ACCEPTED' });
    await publish(tree, { ...coffee(2), id: 'tea' });
    await refreshIndexes(tree);
    expect(await writtenEntries()).toMatchObject([older, { catalogId: 'tea' }]);
    expect((await published(tree, 'coffee')).entry).toMatchObject({ retiredAt });
    await resignEverything(tree);
    expect((await writtenEntries())[0]).not.toHaveProperty('isActive');
    expect((await published(tree, 'coffee')).entry).toMatchObject({ retiredAt });
  });

  it('is refused for a catalog that was never published', async () => {
    expect(await ask({ retire: ['unknown'] })).toMatchObject({
      catalogId: 'unknown',
      status: 'REJECTED',
      errors: [{ message: expect.stringContaining('never published'), details: { path: '$.retire[0]' } }],
    });
  });

  it('is refused in another index than the one that it is in, which is named', async () => {
    await publish(tree, coffee(3));
    const { results } = await publishCatalogs(tree, { retire: ['coffee'] }, 'south');
    expect(results).toMatchObject([
      { status: 'REJECTED', errors: [{ message: expect.stringContaining('is in the index catalogs') }] },
    ]);
    expect((await published(tree, 'coffee')).entry).not.toHaveProperty('retiredAt');
  });

  it('removes the files when a cycle is over', async () => {
    await publish(tree, coffee(3));
    await ask({ retire: ['coffee'] });
    pass(23);
    await refreshIndexes(tree);
    expect(await contentFiles(tree)).toHaveLength(1);
    pass(2);
    await refreshIndexes(tree);
    expect(await contentFiles(tree)).toEqual([]);
  });
});

describe('pausing and resuming', () => {
  it('changes the entry alone, and only once', async () => {
    await publish(tree, coffee(3));
    expect(await ask({ pause: ['coffee'] })).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1 });
    expect(await ask({ pause: ['coffee'] })).toMatchObject({ version: 1, unchanged: true });
    expect((await published(tree, 'coffee')).entry).toMatchObject({ entryVersion: 2, isActive: false });
    expect(await ask({ resume: ['coffee'] })).toEqual({
      catalogId: 'coffee',
      status: 'ACCEPTED',
      version: 1,
    });
    expect(await ask({ resume: ['coffee'] })).toMatchObject({ version: 1, unchanged: true });
    expect((await published(tree, 'coffee')).entry).toMatchObject({ entryVersion: 3, isActive: true });
    expect(await contentFiles(tree)).toHaveLength(1);
  });

  it('outlasts a publish that says nothing of it, but not one that does', async () => {
    await publish(tree, coffee(3));
    await ask({ pause: ['coffee'] });
    await publish(tree, coffee(4));
    expect((await published(tree, 'coffee')).entry.isActive).toBe(false);
    await publish(tree, { ...coffee(4), isActive: true });
    expect((await published(tree, 'coffee')).entry.isActive).toBe(true);
  });

  it('follows isActive of the catalog, also when it is no longer there', async () => {
    await publish(tree, { ...coffee(3), isActive: false });
    expect((await published(tree, 'coffee')).entry.isActive).toBe(false);
    await publish(tree, coffee(3));
    expect((await published(tree, 'coffee')).entry.isActive).toBe(true);
  });

  it('outlasts a publish also of a catalog that called itself inactive until then, and is written once', async () => {
    await publish(tree, { ...coffee(3), isActive: false });
    expect(await ask({ pause: ['coffee'] })).toMatchObject({ version: 2 });
    expect(await ask({ pause: ['coffee'] })).toMatchObject({ version: 2 });
    await publish(tree, coffee(3));
    const { entry, held } = await published(tree, 'coffee');
    expect([entry.isActive, held?.content.members.isActive, held?.version]).toEqual([false, undefined, 2]);
  });

  it('makes a catalog active that calls itself inactive', async () => {
    await publish(tree, { ...coffee(20), isActive: false });
    expect(await ask({ resume: ['coffee'] })).toMatchObject({ version: 2 });
    const { entry, held } = await published(tree, 'coffee');
    expect([entry.isActive, held?.content.members.isActive]).toEqual([true, true]);
  });
});

describe('pausing in the profile nfh014, whose crawlers read the content alone', () => {
  beforeEach(() => {
    tree = { ...tree, profile: 'nfh014' };
  });
  const activity = async () => {
    const { entry, held } = await published(tree, 'coffee');
    return [entry.isActive, held?.content.members.isActive];
  };

  it('outlasts a publish that says nothing of it, also in the content, but not one that does', async () => {
    await publish(tree, coffee(30));
    expect(await activity()).toEqual([true, undefined]);
    await ask({ pause: ['coffee'] });
    expect(await activity()).toEqual([false, false]);
    await publish(tree, coffee(31));
    expect(await activity()).toEqual([false, false]);
    await publish(tree, { ...coffee(31), isActive: true });
    expect(await activity()).toEqual([true, true]);
    expect((await published(tree, 'coffee')).entry.changes).toHaveLength(3);
  });

  it('is told by the entry alone where the files cannot be read', async () => {
    await publish(tree, coffee(3));
    const [file = ''] = await contentFiles(tree);
    await writeFile(join(tree.root, file), '{}');
    expect(await ask({ pause: ['coffee'] })).toMatchObject({ status: 'ACCEPTED' });
    const [entry] = [...((await readIndexes(tree)).get('catalogs')?.entries.values() ?? [])];
    expect(entry).toMatchObject({ entryVersion: 2, isActive: false });
  });
});

describe('forceBaseline', () => {
  it('writes what changed as a baseline instead of a change file', async () => {
    await publish(tree, coffee(20));
    await publish(tree, coffee(21), { forceBaseline: true });
    const { entry, held } = await published(tree, 'coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 2 }, changes: [] });
    expect(held?.content.resources.size).toBe(21);
  });

  it('alone writes a baseline of the published version for every catalog', async () => {
    await publish(tree, coffee(20));
    await publish(tree, coffee(21));
    await publish(tree, { ...coffee(2), id: 'tea' });
    const { results } = await publishCatalogs(tree, { forceBaseline: true });
    expect(results).toMatchObject([
      { catalogId: 'coffee', version: 2 },
      { catalogId: 'tea', version: 1 },
    ]);
    const { entry } = await published(tree, 'coffee');
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
    expect(await publish(tree, sorts)).toMatchObject({ status: 'ACCEPTED' });
    checker = strict;
    const merged = await publishCatalogs(tree, {
      message: {
        catalogs: [{ ...sorts, resources: [{ id: 'r2' }] }],
        publishDirectives: [{ catalogId: 'coffee', catalogType: 'REGULAR', updateMode: 'MERGE' }],
      },
    });
    expect(merged.results).toMatchObject([{ status: 'ACCEPTED' }]);
    expect(await publish(tree, { ...sorts, resources: [...sorts.resources, { id: 'r2' }] })).toMatchObject({
      status: 'REJECTED',
      errors: [{ message: 'is wrong' }],
    });
  });
});

describe('compaction', () => {
  it('writes a change and a baseline of the same version when the changes are many', async () => {
    tree = { ...tree, limits: { ...tree.limits, compactionChanges: 3 } };
    for (let size = 30; size < 34; size++) await publish(tree, coffee(size));
    const { entry } = await published(tree, 'coffee');
    expect(entry.baseline).toMatchObject({ version: 4 });
    expect(entry.changes.map(({ version }) => version)).toEqual([2, 3, 4]);
  });

  it('keeps the baseline before for the cycle that was announced with it, also where cycles have become shorter', async () => {
    const baselines = async () =>
      (await contentFiles(tree)).filter((path) => !path.includes('changes')).length;
    await publish(tree, coffee(30));
    tree = { ...tree, limits: { ...tree.limits, nextUpdateSeconds: 60 } };
    pass(1);
    await publish(tree, coffee(31), { forceBaseline: true });
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
    for (const size of [30, 31, 32]) await publish(tree, coffee(size));
    const [damaged = ''] = (await contentFiles(tree)).filter((path) => path.includes('.v2.'));
    await writeFile(join(tree.root, damaged), '{}');
    await refreshIndexes(tree);
    expect((await published(tree, 'coffee')).entry.changes.map(({ version }) => version)).toEqual([3]);
  });

  it('does so when they are large', async () => {
    await publish(tree, coffee(10));
    await publish(tree, coffee(20));
    expect((await published(tree, 'coffee')).entry.baseline).toMatchObject({ version: 2 });
  });

  it('keeps superseded changes listed for a cycle and on the disk for another', async () => {
    tree = { ...tree, limits: { ...tree.limits, compactionChanges: 2 } };
    await publish(tree, coffee(30));
    pass(5);
    await publish(tree, coffee(31));
    pass(5);
    await publish(tree, coffee(32)); // compaction at 10 h
    const listed = async () => (await published(tree, 'coffee')).entry.changes.map(({ version }) => version);
    const onDisk = async () => (await readdir(join(tree.root, 'catalogs/changes'))).length;
    expect([await listed(), await onDisk()]).toEqual([[2, 3], 2]);
    pass(20);
    await publish(tree, coffee(33)); // 30 h
    expect([await listed(), await onDisk()]).toEqual([[2, 3, 4], 3]);
    pass(3.9);
    await refreshIndexes(tree); // 33.9 h
    expect([await listed(), await onDisk()]).toEqual([[2, 3, 4], 3]);
    pass(0.2);
    await refreshIndexes(tree); // 34.1 h: the cycle is over
    expect([await listed(), await onDisk()]).toEqual([[4], 3]);
    expect((await published(tree, 'coffee')).entry.entryVersion).toBe(5);
    pass(23.8);
    await refreshIndexes(tree); // 57.9 h
    expect(await onDisk()).toBe(3);
    pass(0.3);
    await refreshIndexes(tree); // 58.2 h: so is the other
    expect([await listed(), await onDisk()]).toEqual([[4], 1]);
  });

  it('counts the cycle of each change from the baseline that took it in first', async () => {
    await publish(tree, coffee(30));
    await publish(tree, coffee(31));
    await publishCatalogs(tree, { forceBaseline: true });
    for (let hours = 0; hours < 24; hours += 6) {
      pass(6);
      await publishCatalogs(tree, { forceBaseline: true });
    }
    pass(0.1);
    await publish(tree, coffee(32));
    expect((await published(tree, 'coffee')).entry.changes.map(({ version }) => version)).toEqual([3]);
  });
});

async function writtenEntries(): Promise<JsonObject[]> {
  const bytes = (await servedFiles(tree)).get('index/catalogs.index.json');
  return JSON.parse(String(bytes)).catalogs;
}

async function ask(request: TriggerRequest) {
  const { results } = await publishCatalogs(tree, request);
  return results[0];
}

function pass(hours: number): void {
  now = new Date(now.getTime() + hours * hour);
}
