import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTree, readTree, servedFiles, type TestTree } from '../../tests/support/published-tree.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';
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
    expect(await publish(coffee())).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1 });
    const { entry, held } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 1, catalogType: 'REGULAR', isActive: true, changes: [] });
    expect(entry.baseline).toMatchObject({
      version: 1,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(entry.networkIds).toBeUndefined();
    expect(held && catalogOf(held.content)).toEqual(coffee());
  });

  it('writes a change file with what has changed, and nothing else, when it is published again', async () => {
    await publish(coffee(10));
    const changed = coffee(10);
    changed.resources = [
      { id: 'r3', descriptor: { name: 'Other' } },
      ...changed.resources.slice(0, 3),
      { id: 'new' },
    ];
    expect(await publish(changed)).toMatchObject({ version: 2 });
    const { entry, held } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 } });
    expect(entry.changes).toMatchObject([{ version: 2, fromVersion: 1, toVersion: 2 }]);
    expect(await lastChange()).toMatchObject({
      resources: {
        upserts: [{ id: 'r3', descriptor: { name: 'Other' } }, { id: 'new' }],
        removals: ['r4', 'r5', 'r6', 'r7', 'r8', 'r9'],
      },
      offers: { upserts: [], removals: [] },
    });
    expect([...(held?.content.resources.keys() ?? [])]).toEqual(['r0', 'r1', 'r2', 'r3', 'new']);
  });

  it('changes no byte on the disk when nothing has changed, whatever the order', async () => {
    await publish(coffee(10), { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['b/x', 'a/y'] });
    const before = await servedFiles(tree);
    now = new Date(now.getTime() + 1000);
    const { resources, ...others } = coffee(10);
    const answer = await publish(
      { resources: [...resources].reverse(), ...others },
      { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/y', 'b/x', 'a/y'] },
    );
    expect(answer).toEqual({ catalogId: 'coffee', status: 'ACCEPTED', version: 1 });
    expect(await servedFiles(tree)).toEqual(before);
  });

  it('raises the entry and writes no file when only the networks change', async () => {
    await publish(coffee(), { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/x'] });
    const before = await servedFiles(tree);
    expect(await publish(coffee())).toMatchObject({ version: 1 });
    const { entry } = await published('coffee');
    expect(entry).toMatchObject({ entryVersion: 2, baseline: { version: 1 }, changes: [] });
    expect(entry.networkIds).toBeUndefined();
    expect([...(await servedFiles(tree)).keys()]).toEqual([...before.keys()]);
  });

  it('overlays catalog-level members that change, and writes a baseline when one disappears', async () => {
    await publish({ ...coffee(10), validity: { startDate: '2026-01-01' } });
    await publish({ ...coffee(10), validity: { startDate: '2026-02-01' }, descriptor: { name: 'Tea' } });
    expect(await lastChange()).toMatchObject({
      catalog: { validity: { startDate: '2026-02-01' }, descriptor: { name: 'Tea' } },
      resources: { upserts: [], removals: [] },
    });
    expect(await publish(coffee(10))).toMatchObject({ version: 3 });
    const { entry, held } = await published('coffee');
    expect(entry.baseline).toMatchObject({ version: 3 });
    expect(entry.changes.map(({ version }) => version)).toEqual([2]);
    expect(held && catalogOf(held.content)).toEqual(coffee(10));
  });

  it('keeps what a MERGE does not name: resources, offers, members and networks', async () => {
    await publish(
      { ...coffee(3), offers: [{ id: 'o1' }], validity: { endDate: '2027-01-01' } },
      { catalogId: 'coffee', catalogType: 'REGULAR', visibleTo: ['a/x'] },
    );
    const { resources: _, ...members } = coffee();
    await publish(
      { ...members, resources: [{ id: 'r1', descriptor: { name: 'New' } }] },
      { catalogId: 'coffee', catalogType: 'REGULAR', updateMode: 'MERGE' },
    );
    const { entry, held } = await published('coffee');
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
    for (const id of ids) await publish({ ...coffee(), id });
    const files = [...(await servedFiles(tree)).keys()].filter((path) => path.startsWith('catalogs/'));
    expect(new Set(files.map((path) => path.toLowerCase())).size).toBe(ids.length);
    expect([...(await readTree(tree)).keys()].sort()).toEqual([...ids].sort());
  });

  it('serves what is larger than 1 MiB gzipped, with the digest of what comes out', async () => {
    const large = coffee();
    large.resources = Array.from({ length: 3000 }, (_, index) => {
      return { id: `r${index}`, descriptor: { name: `Röst ${index}`, longDesc: 'x'.repeat(500) } };
    });
    await publish(large);
    const { entry, held } = await published('coffee');
    expect(entry.baseline?.url).toMatch(/\.json\.gz$/);
    expect(entry.baseline?.size).toBeLessThan(200_000);
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
    const result = await publish({ ...coffee(), resources: [charger] });
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
    expect(await publish({ ...coffee(), resources: [] })).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR' }],
    });
    expect(await publish({ ...coffee(), bppId: 'somebody.else' })).toMatchObject({
      errors: [{ code: 'AUT_UNAUTHORIZED_ACTION', details: { path: '$.message.catalogs[0].bppId' } }],
    });
    expect(await publish({ ...coffee(), bppId: 'example.org' })).toMatchObject({ status: 'ACCEPTED' });
    expect(await publish(coffee(), { catalogId: 'coffee', catalogType: 'MASTER' })).toMatchObject({
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
    await publish(coffee());
    const { entry } = await published('coffee');
    expect(entry.baseline?.digest).toMatch(/^sha-256:/);
    expect(entry.signature).toMatchObject({ keyId: 'key-1', canonicalization: 'JCS' });
  });
});

describe('a MASTER catalog', () => {
  const template = {
    id: 'm1',
    descriptor: { name: 'Template' },
    resourceAttributes: {
      '@context': 'https://schema.example.org/Bean/v1/context.jsonld',
      '@type': 'Bean',
      origin: 'Peru',
    },
  };
  const master = { ...coffee(), id: 'templates', resources: [template] };
  const directive = (catalogId: string, masterResourceId: string): PublishDirective => ({
    catalogId,
    catalogType: 'REGULAR',
    resourceDirectives: [{ resourceId: 'r0', extends: { masterResourceId } }],
  });

  it('holds no offers', async () => {
    const result = await publish(
      { ...master, offers: [{ id: 'o1' }] },
      { catalogId: 'templates', catalogType: 'MASTER' },
    );
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.catalogs[0].offers' } }],
    });
  });

  it('is named by the entries of the catalogs that extend it, also of the same request', async () => {
    const answer = await publishCatalogs(tree, {
      message: {
        catalogs: [coffee(), master],
        publishDirectives: [directive('coffee', 'm1'), { catalogId: 'templates', catalogType: 'MASTER' }],
      },
    });
    expect(answer.results.map(({ catalogId }) => catalogId)).toEqual(['coffee', 'templates']);
    const { entry, held } = await published('coffee');
    expect(entry.dependencies).toEqual({
      masters: [
        { catalogId: 'templates', version: 1, indexUrl: `${tree.baseUrl}/index/catalogs.index.json` },
      ],
    });
    expect(entry.schemaTypes).toEqual(['https://schema.example.org/Bean/v1/context.jsonld']);
    expect(held?.content.directives.get('r0')).toEqual({
      resourceId: 'r0',
      extends: { masterResourceId: 'm1' },
    });
  });

  it('cannot be contradicted by what extends it', async () => {
    await publish(master, { catalogId: 'templates', catalogType: 'MASTER' });
    const own = { '@context': template.resourceAttributes['@context'], '@type': 'Bean', origin: 'Kenya' };
    const result = await publish(
      { ...coffee(), resources: [{ id: 'r0', resourceAttributes: own }] },
      directive('coffee', 'm1'),
    );
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.catalogs[0].resources[0].resourceAttributes.origin' } }],
    });
  });

  it('of somebody else, or of other networks, is left to the reader to find', async () => {
    await publish(master, { catalogId: 'templates', catalogType: 'MASTER', visibleTo: ['a/x'] });
    await publish(coffee(), { ...directive('coffee', 'm1'), visibleTo: ['b/y'] });
    expect((await published('coffee')).entry.dependencies).toBeUndefined();
    await publish({ ...coffee(), id: 'tea' }, directive('tea', 'unheard-of'));
    expect((await published('tea')).entry).not.toHaveProperty('dependencies');
  });

  it('writes a resource again when only what it extends changes', async () => {
    await publish(coffee(10), directive('coffee', 'x1'));
    await publish(coffee(10), directive('coffee', 'x2'));
    expect(await lastChange()).toMatchObject({
      resources: { upserts: [{ id: 'r0' }], removals: [] },
      directives: [{ resourceId: 'r0', extends: { masterResourceId: 'x2' } }],
    });
    await publish(coffee(10));
    expect(await lastChange()).not.toHaveProperty('directives');
    expect((await published('coffee')).held?.content.directives.size).toBe(0);
  });

  it('has each variant once in a catalog, also where a MERGE keeps the other', async () => {
    const variant = (resourceId: string): PublishDirective => ({
      catalogId: 'coffee',
      catalogType: 'REGULAR',
      updateMode: 'MERGE',
      resourceDirectives: [
        { resourceId, extends: { masterResourceId: 'x' }, variant: { type: 'geo', id: 'delhi' } },
      ],
    });
    await publish(coffee(2), variant('r0'));
    expect(await publish(coffee(2), variant('r1'))).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.publishDirectives[0].resourceDirectives[0].variant' } }],
    });
  });
});

describe('several indexes', () => {
  it('keep their catalogs apart, and each catalog stays in its own', async () => {
    await publishCatalogs(tree, { message: { catalogs: [coffee()] } }, 'north');
    await publishCatalogs(tree, { message: { catalogs: [{ ...coffee(), id: 'tea' }] } });
    expect((await published('coffee')).indexName).toBe('north');
    expect((await published('tea')).indexName).toBe('catalogs');
    await publish(coffee(2));
    expect((await published('coffee')).indexName).toBe('north');
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee(3)] } }, 'south');
    expect(answer.results).toMatchObject([{ status: 'REJECTED' }]);
    expect((await published('coffee')).entry.entryVersion).toBe(2);
  });
});

async function publish(catalog: Catalog, directive?: PublishDirective) {
  const publishDirectives = directive && [directive];
  const { results } = await publishCatalogs(tree, { message: { catalogs: [catalog], publishDirectives } });
  return results[0];
}

async function published(catalogId: string) {
  const catalog = (await readTree(tree)).get(catalogId);
  if (!catalog) throw new Error(`${catalogId} is not published`);
  return catalog;
}

/** The change file that was written last. */
async function lastChange(): Promise<unknown> {
  const { entry } = await published('coffee');
  const path = entry.changes.at(-1)?.url.slice(tree.baseUrl.length + 1) ?? '';
  return JSON.parse((await servedFiles(tree)).get(path)?.toString() ?? '{}');
}

function coffee(size = 1) {
  return {
    id: 'coffee',
    descriptor: { name: 'Coffee' },
    provider: { id: 'p1', descriptor: { name: 'A roaster' } },
    resources: Array.from({ length: size }, (_, index): NonNullable<Catalog['resources']>[number] => {
      return { id: `r${index}`, descriptor: { name: `Roast ${index}`, longDesc: 'beans '.repeat(60) } };
    }),
  };
}
