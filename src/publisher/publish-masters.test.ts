import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  coffee,
  lastChange,
  publish,
  publishAs,
  published,
} from '../../tests/support/catalogs/published-coffee.ts';
import { makeTree, type TestTree } from '../../tests/support/hosted/published-tree.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';
import { publishCatalogs } from './publish.ts';

let tree: TestTree;
const now = new Date('2026-11-15T12:00:00.000Z');

beforeEach(async () => {
  tree = await makeTree({ now: () => now });
});
afterEach(() => tree.remove());

describe('a MASTER catalog', () => {
  const template = {
    id: 'm1',
    descriptor: { shortDesc: 'Template' },
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
    const result = await publishAs(
      tree,
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
    const { entry, held } = await published(tree, 'coffee');
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
    await publishAs(tree, master, { catalogId: 'templates', catalogType: 'MASTER' });
    const own = { '@context': template.resourceAttributes['@context'], '@type': 'Bean', origin: 'Kenya' };
    const result = await publishAs(
      tree,
      { ...coffee(), resources: [{ id: 'r0', resourceAttributes: own }] },
      directive('coffee', 'm1'),
    );
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.catalogs[0].resources[0].resourceAttributes.origin' } }],
    });
  });

  it('of somebody else, or of other networks, is left to the reader to find', async () => {
    await publishAs(tree, master, { catalogId: 'templates', catalogType: 'MASTER', visibleTo: ['a/x'] });
    await publishAs(tree, coffee(), { ...directive('coffee', 'm1'), visibleTo: ['b/y'] });
    expect((await published(tree, 'coffee')).entry.dependencies).toBeUndefined();
    await publishAs(tree, { ...coffee(), id: 'tea' }, directive('tea', 'unheard-of'));
    expect((await published(tree, 'tea')).entry).not.toHaveProperty('dependencies');
  });

  it('of another node is named as the directive names it, also after a MERGE that names none', async () => {
    const masters = [{ catalogId: 'theirs', version: 7, indexUrl: 'https://hub.example/index.json' }];
    const extending = directive('coffee', 'x1');
    const publishDirectives = [{ ...extending, dependencies: { masters } }];
    const answer = await publishCatalogs(tree, { message: { catalogs: [coffee()], publishDirectives } });
    expect(answer).toMatchObject({ status: 'COMPLETED' });
    expect(answer.warnings).toBeUndefined();
    expect((await published(tree, 'coffee')).entry.dependencies).toEqual({ masters });
    await publishAs(tree, coffee(3), { ...extending, updateMode: 'MERGE' });
    expect((await published(tree, 'coffee')).entry.dependencies).toEqual({ masters });
    await publishAs(tree, coffee(3), extending);
    expect((await published(tree, 'coffee')).entry).not.toHaveProperty('dependencies');
  });

  it('is named beside those that the directive names, and no longer after a MERGE in which nothing extends it', async () => {
    const other = { ...master, id: 'others', resources: [{ ...template, id: 'm2' }] };
    for (const { id: catalogId, ...rest } of [master, other])
      await publishAs(tree, { id: catalogId, ...rest }, { catalogId, catalogType: 'MASTER' });
    const dependencies = { masters: [{ catalogId: 'theirs' }] };
    const extending = (masterResourceId: string): PublishDirective => ({
      ...directive('coffee', masterResourceId),
      updateMode: 'MERGE',
    });
    const named = async () =>
      (await published(tree, 'coffee')).entry.dependencies?.masters?.map(({ catalogId }) => catalogId);
    await publishAs(tree, coffee(), extending('m1'));
    await publishAs(tree, coffee(), extending('m2'));
    expect(await named()).toEqual(['others']);
    const sendWith = (masterResourceId: string) => {
      const publishDirectives = [{ ...extending(masterResourceId), dependencies }];
      return publishCatalogs(tree, { message: { catalogs: [coffee()], publishDirectives } });
    };
    await sendWith('x1');
    expect(await named()).toEqual(['theirs']);
    await publishAs(tree, coffee(), extending('m1'));
    expect(await named()).toEqual(['templates']);
    await sendWith('m2');
    expect(await named()).toEqual(['others', 'theirs']);
  });

  it('that nothing names gets a warning that says what crawlers will wait for', async () => {
    const { warnings } = await publishCatalogs(tree, {
      message: { catalogs: [coffee()], publishDirectives: [directive('coffee', 'x1')] },
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^coffee extends master resources .*: x1\. Crawlers will not serve/),
    ]);
  });

  it('writes a resource again when only what it extends changes', async () => {
    await publishAs(tree, coffee(10), directive('coffee', 'x1'));
    await publishAs(tree, coffee(10), directive('coffee', 'x2'));
    expect(await lastChange(tree)).toMatchObject({
      resources: { upserts: [{ id: 'r0' }], removals: [] },
      directives: [{ resourceId: 'r0', extends: { masterResourceId: 'x2' } }],
    });
    await publish(tree, coffee(10));
    expect(await lastChange(tree)).not.toHaveProperty('directives');
    expect((await published(tree, 'coffee')).held?.content.directives.size).toBe(0);
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
    await publishAs(tree, coffee(2), variant('r0'));
    expect(await publishAs(tree, coffee(2), variant('r1'))).toMatchObject({
      status: 'REJECTED',
      errors: [{ details: { path: '$.message.publishDirectives[0].resourceDirectives[0].variant' } }],
    });
  });
});
