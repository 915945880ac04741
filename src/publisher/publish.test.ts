import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  coffee,
  lastChange,
  publish,
  publishAs,
  published,
} from '../../tests/support/catalogs/published-coffee.ts';
import { makeTree, readTree, servedFiles, type TestTree } from '../../tests/support/hosted/published-tree.ts';
import type { Catalog } from '../protocol/catalog.ts';
import { sha256Digest } from '../protocol/digest.ts';
import { catalogOf } from '../rules/self-hosted/content.ts';
import { publishCatalogs } from './publish.ts';

let tree: TestTree;
let now = new Date('2026-11-15T12:00:00.000Z');

beforeEach(async () => {
  tree = await makeTree({ now: () => now });
});
afterEach(() => tree.remove());

describe('publishing a catalog', () => {
  it('writes a signed baseline of version 1 when it is the first time', async () => {
    expect(await publish(tree, coffee())).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1 });
    const { entry, held } = await published(tree, 'coffee');
    expect(entry).toMatchObject({ entryVersion: 1, catalogType: 'REGULAR', isActive: true, changes: [] });
    expect(entry.baseline).toMatchObject({
      version: 1,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(entry.networkIds).toBeUndefined();
    expect(held && catalogOf(held.content)).toEqual(coffee());
  });

  it('writes a change file with what has changed, and nothing else, when it is published again', async () => {
    await publish(tree, coffee(10));
    const changed = coffee(10);
    changed.resources = [
      { id: 'r3', descriptor: { name: 'Other' } },
      ...changed.resources.slice(0, 3),
      { id: 'new' },
    ];
    expect(await publish(tree, changed)).toMatchObject({ version: 2 });
    const { entry, held } = await published(tree, 'coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 } });
    expect(entry.changes).toMatchObject([{ version: 2, fromVersion: 1, toVersion: 2 }]);
    expect(await lastChange(tree)).toMatchObject({
      resources: {
        upserts: [{ id: 'r3', descriptor: { name: 'Other' } }, { id: 'new' }],
        removals: ['r4', 'r5', 'r6', 'r7', 'r8', 'r9'],
      },
      offers: { upserts: [], removals: [] },
    });
    expect([...(held?.content.resources.keys() ?? [])]).toEqual(['r0', 'r1', 'r2', 'r3', 'new']);
  });

  it('warns about what a publish without updateMode removes, by number and name', async () => {
    const directive = { catalogId: 'coffee', catalogType: 'REGULAR' as const };
    const offers = [{ id: 'o1' }, { id: 'o2' }];
    const warnings = async (catalog: Catalog, updateMode?: 'FULL' | 'MERGE') => {
      const publishDirectives = [{ ...directive, ...(updateMode && { updateMode }) }];
      return (await publishCatalogs(tree, { message: { catalogs: [catalog], publishDirectives } })).warnings;
    };
    await warnings({ ...coffee(14), offers });
    expect(await warnings({ ...coffee(14), offers: [{ id: 'o1' }] })).toEqual([
      'coffee was published without updateMode, as the whole catalog: this removes 1 offer (o2). Use updateMode MERGE to keep what a request does not name.',
    ]);
    expect(await warnings(coffee(2))).toEqual([
      expect.stringContaining(
        '12 resources (r2, r3, r4, r5, r6, r7, r8, r9, r10, r11 and 2 more) and 1 offer (o1). Use',
      ),
    ]);
    expect(await warnings(coffee(1), 'MERGE')).toBeUndefined();
    expect(await warnings(coffee(1), 'FULL')).toBeUndefined();
    expect(await warnings({ ...coffee(3) })).toBeUndefined();
  });

  it('changes no byte on the disk when nothing has changed, whatever the order', async () => {
    await publishAs(tree, coffee(10), {
      catalogId: 'coffee',
      catalogType: 'REGULAR',
      visibleTo: ['b/x', 'a/y'],
    });
    const before = await servedFiles(tree);
    now = new Date(now.getTime() + 1000);
    const { resources, ...others } = coffee(10);
    const answer = await publishAs(
      tree,
      { resources: [...resources].reverse(), ...others },
      { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/y', 'b/x', 'a/y'] },
    );
    expect(answer).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1, unchanged: true });
    expect(await servedFiles(tree)).toEqual(before);
  });

  it('raises the entry and writes no file when only the networks change', async () => {
    await publishAs(tree, coffee(), { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/x'] });
    const before = await servedFiles(tree);
    expect(await publish(tree, coffee())).toMatchObject({ version: 1 });
    const { entry } = await published(tree, 'coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 }, changes: [] });
    expect(entry.networkIds).toBeUndefined();
    expect([...(await servedFiles(tree)).keys()]).toEqual([...before.keys()]);
  });

  it('overlays catalog-level members that change, and writes a baseline when one disappears', async () => {
    await publish(tree, { ...coffee(10), validity: { startDate: '2026-01-01' } });
    await publish(tree, {
      ...coffee(10),
      validity: { startDate: '2026-02-01' },
      descriptor: { name: 'Tea' },
    });
    expect(await lastChange(tree)).toMatchObject({
      catalog: { validity: { startDate: '2026-02-01' }, descriptor: { name: 'Tea' } },
      resources: { upserts: [], removals: [] },
    });
    expect(await publish(tree, coffee(10))).toMatchObject({ version: 3 });
    const { entry, held } = await published(tree, 'coffee');
    expect(entry.baseline).toMatchObject({ version: 3 });
    expect(entry.changes.map(({ version }) => version)).toEqual([2]);
    expect(held && catalogOf(held.content)).toEqual(coffee(10));
  });

  it('keeps what a MERGE does not name: resources, offers, members and networks', async () => {
    await publishAs(
      tree,
      { ...coffee(3), offers: [{ id: 'o1' }], validity: { endDate: '2027-01-01' } },
      { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/x'] },
    );
    const { resources: _, ...members } = coffee();
    await publishAs(
      tree,
      { ...members, resources: [{ id: 'r1', descriptor: { name: 'New' } }] },
      { catalogId: 'coffee', catalogType: 'REGULAR', updateMode: 'MERGE' },
    );
    const { entry, held } = await published(tree, 'coffee');
    expect(entry.networkIds).toEqual(['a/x']);
    expect(held && catalogOf(held.content)).toEqual({
      ...coffee(3),
      resources: [coffee(3).resources[0], { id: 'r1', descriptor: { name: 'New' } }, coffee(3).resources[2]],
      offers: [{ id: 'o1' }],
      validity: { endDate: '2027-01-01' },
    });
  });

  it('gives two catalogs with the same last segment, or the same letters, files of their own', async () => {
    const ids = [
      'https://a.example/coffee',
      'https://b.example/coffee',
      'Coffee',
      'coffee',
      'COFFEE',
      'c:coffee',
    ];
    for (const id of ids) await publish(tree, { ...coffee(), id });
    const files = [...(await servedFiles(tree)).keys()].filter((path) => path.startsWith('catalogs/'));
    expect(new Set(files.map((path) => path.toLowerCase())).size).toBe(ids.length);
    expect([...(await readTree(tree)).keys()].sort()).toEqual([...ids].sort());
  });

  it('serves what is larger than 1 MiB gzipped, with the digest of the stored bytes; of the decompressed ones under nfh014', async () => {
    const large = coffee();
    large.resources = Array.from({ length: 3000 }, (_, index) => {
      return { id: `r${index}`, descriptor: { name: `Röst ${index}`, longDesc: 'x'.repeat(500) } };
    });
    await publish(tree, large);
    const { entry, held } = await published(tree, 'coffee');
    expect(entry.baseline?.url).toMatch(/\.json\.gz$/);
    expect(entry.baseline?.size).toBeLessThan(200_000);
    const stored = async (url = '') =>
      (await servedFiles(tree)).get(url.slice(url.indexOf('/catalogs/') + 1)) ?? Buffer.alloc(0);
    expect(entry.baseline?.digest).toBe(sha256Digest(await stored(entry.baseline?.url)));
    tree = { ...tree, profile: 'nfh014' };
    await publish(tree, { ...large, id: 'tea' });
    const { baseline } = (await published(tree, 'tea')).entry;
    const unpacked = gunzipSync(await stored(baseline?.url));
    expect(baseline?.digest).toBe(sha256Digest(unpacked).replace('sha256', 'sha-256'));
    expect(held && catalogOf(held.content)).toEqual(large);
  });

  it('is REJECTED, and nothing is written, when the catalog is not sound', async () => {
    const charger = {
      id: 'c1',
      resourceAttributes: {
        '@context': 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld',
        '@type': 'EnergyResourceEVCharger',
        id: 'c1',
        type: 'TOASTER',
      },
    };
    const result = await publish(tree, { ...coffee(), resources: [charger] });
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [
        {
          code: 'SCH_SCHEMA_VALIDATION_FAILED',
          details: { path: '$.message.catalogs[0].resources[0].resourceAttributes.type' },
        },
      ],
    });
    expect(await servedFiles(tree)).toEqual(new Map());
  });

  it('refuses an empty catalog, a bppId of somebody else, and another type than before', async () => {
    expect(await publish(tree, { ...coffee(), resources: [] })).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR' }],
    });
    expect(await publish(tree, { ...coffee(), bppId: 'somebody.else' })).toMatchObject({
      errors: [{ code: 'AUT_UNAUTHORIZED_ACTION', details: { path: '$.message.catalogs[0].bppId' } }],
    });
    expect(await publish(tree, { ...coffee(), bppId: 'example.org' })).toMatchObject({ status: 'ACCEPTED' });
    expect(await publishAs(tree, coffee(), { catalogId: 'coffee', catalogType: 'MASTER' })).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.publishDirectives[0].catalogType' } }],
    });
  });

  it('accepts the sound catalogs of a request and says FAILED only when there is none', async () => {
    const bad = { ...coffee(), id: 'bad', resources: [] };
    const answer = await publishCatalogs(tree, { message: { catalogs: [bad, coffee()] } });
    expect(answer.status).toBe('COMPLETED');
    expect(answer.results).toMatchObject([
      { catalogId: 'bad', status: 'REJECTED' },
      { catalogId: 'coffee', status: 'ACCEPTED', version: 1 },
    ]);
    expect(await publishCatalogs(tree, { message: { catalogs: [bad] } })).toMatchObject({ status: 'FAILED' });
  });

  it('writes sha-256 digests and object signatures under the profile nfh014', async () => {
    tree = { ...tree, profile: 'nfh014' };
    await publish(tree, coffee());
    const { entry } = await published(tree, 'coffee');
    expect(entry.baseline?.digest).toMatch(/^sha-256:/);
    expect(entry.signature).toMatchObject({ keyId: 'key-1', canonicalization: 'JCS' });
  });
});

describe('several indexes', () => {
  it('keep their catalogs apart, and each catalog stays in its own', async () => {
    await publishCatalogs(tree, { message: { catalogs: [coffee()] } }, 'north');
    await publishCatalogs(tree, { message: { catalogs: [{ ...coffee(), id: 'tea' }] } });
    expect((await published(tree, 'coffee')).indexName).toBe('north');
    expect((await published(tree, 'tea')).indexName).toBe('catalogs');
    await publish(tree, coffee(2));
    expect((await published(tree, 'coffee')).indexName).toBe('north');
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee(3)] } }, 'south');
    expect(answer.results).toMatchObject([{ status: 'REJECTED' }]);
    expect((await published(tree, 'coffee')).entry.entryVersion).toBe(2);
  });
});
