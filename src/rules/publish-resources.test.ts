import { describe, expect, it } from 'vitest';
import {
  catalog,
  coffee,
  faults,
  ids,
  limits,
  master,
  publish,
  publisher,
  stored,
  typed,
} from '../../tests/support/catalogs/coffee-publisher.ts';
import type { Resource } from '../protocol/catalog.ts';
import type { MasterResource, StoredExtension } from './extends.ts';
import type { PublishChange } from './publish.ts';

describe('a MASTER catalog', () => {
  const asMaster = { catalogType: 'MASTER' } as const;

  it('may miss what its schema requires, but not be wrong', () => {
    const outcome = publish(
      catalog({ resources: [{ id: 'm1', resourceAttributes: typed }, coffee('m2', { roast: 'burnt' })] }),
      {},
      asMaster,
    );
    expect(ids(outcome).resources).toEqual(['m1']);
    expect(faults(outcome)).toEqual([
      ['SCH_SCHEMA_VALIDATION_FAILED', '$.message.catalogs[0].resources[1].resourceAttributes.roast'],
    ]);
  });

  it('cannot take a master resource id that somebody else has in the same network', () => {
    const masters = new Map([['m', [master()]]]);
    const outcome = publish(catalog({ resources: [coffee('m'), coffee('n')] }), { masters }, asMaster);
    expect(faults(outcome)).toEqual([['BIZ_GENERIC_ERROR', '$.message.catalogs[0].resources[0].id']]);
    expect(outcome.result.status).toBe('PARTIAL');
  });

  it('may use an id that somebody else has in another network, or that is its own', () => {
    const elsewhere = new Map([['m', [master({ networkIds: ['other/network'] })]]]);
    const own = new Map([['m', [master({ owner: publisher.identity })]]]);
    for (const masters of [elsewhere, own]) {
      expect(publish(catalog({ resources: [coffee('m')] }), { masters }, asMaster).result.status).toBe(
        'ACCEPTED',
      );
    }
  });

  it('may use an id whose catalog was released', () => {
    const masters = new Map([['m', [master({ owner: undefined })]]]);
    const outcome = publish(catalog({ resources: [coffee('m')] }), { masters }, asMaster);
    expect(outcome.result.status).toBe('ACCEPTED');
  });

  it('cannot use its own id in a network where somebody else has it too', () => {
    const own = master({ owner: publisher.identity, networkIds: ['other/network'] });
    const masters = new Map([['m', [own, master({ catalogKey: 2 })]]]);
    const directive = { ...asMaster, visibleTo: ['other/network', 'default/network'] };
    const outcome = publish(catalog({ resources: [coffee('m'), coffee('n')] }), { masters }, directive);
    expect(faults(outcome)).toEqual([['BIZ_GENERIC_ERROR', '$.message.catalogs[0].resources[0].id']]);
  });
});

describe('a resource that extends a master resource', () => {
  const extendsM = { extends: { masterResourceId: 'm' } };
  const directive = { resourceDirectives: [{ resourceId: 'r1', ...extendsM }] };
  const masters = new Map([['m', [master()]]]);
  const bare = catalog({ resources: [{ id: 'r1', resourceAttributes: { ...typed, roast: 'dark' } }] });
  const masterPath = '$.message.publishDirectives[0].resourceDirectives[0].extends.masterResourceId';

  function extension(template: MasterResource, variant?: { type: string; id: string }): StoredExtension {
    return { extension: { ...extendsM, ...(variant && { variant }) }, template };
  }

  const assembledOf = (change: PublishChange | undefined) =>
    JSON.parse(change?.resources[0]?.assembled ?? '{}').resourceAttributes;

  it('is checked and kept in its assembled form, beside its own', () => {
    const { result, change } = publish(bare, { masters }, directive);
    expect(result.status).toBe('ACCEPTED');
    expect(change?.resources).toEqual([
      {
        id: 'r1',
        own: bare.resources?.[0],
        assembled: JSON.stringify({
          id: 'r1',
          descriptor: { name: 'Master', shortDesc: 'short' },
          resourceAttributes: { ...typed, grams: 200, roast: 'dark' },
        }),
        types: typed,
        extension: extendsM,
        template: master(),
      },
    ]);
  });

  it('is refused where it changes a value of the template: BIZ_GENERIC_ERROR', () => {
    const outcome = publish(catalog({ resources: [coffee('r1', { grams: 250 })] }), { masters }, directive);
    expect(faults(outcome)).toEqual([
      ['BIZ_GENERIC_ERROR', '$.message.catalogs[0].resources[0].resourceAttributes.grams'],
    ]);
  });

  it('is refused where the assembled form does not conform', () => {
    const roasted = master({ content: { id: 'm', resourceAttributes: { ...typed, roast: 'burnt' } } });
    const outcome = publish(catalog(), { masters: new Map([['m', [roasted]]]) }, directive);
    expect(faults(outcome)).toEqual([
      ['SCH_SCHEMA_VALIDATION_FAILED', '$.message.catalogs[0].resources[0].resourceAttributes.roast'],
    ]);
  });

  it('is refused when nobody knows the master', () => {
    expect(faults(publish(bare, {}, directive))).toEqual([['BIZ_GENERIC_ERROR', masterPath]]);
  });

  it('is refused when the master is of another network', () => {
    const far = new Map([['m', [master({ networkIds: ['other/network'] })]]]);
    expect(faults(publish(bare, { masters: far }, directive))).toEqual([['BIZ_GENERIC_ERROR', masterPath]]);
  });

  it('takes the first published of several masters, unless it has another already', () => {
    const both = new Map([['m', [master({ catalogKey: 1 }), master({ catalogKey: 2 })]]]);
    const extensions = new Map([['r1', extension(master({ catalogKey: 2 }))]]);
    expect(publish(bare, { masters: both }, directive).change?.resources[0]?.template?.catalogKey).toBe(1);
    expect(
      publish(bare, { masters: both, stored: stored(), extensions }, directive).change?.resources[0]?.template
        ?.catalogKey,
    ).toBe(2);
  });

  it('keeps extends and variant in a MERGE that does not repeat its directive', () => {
    const variant = { type: 'geo', id: 'delhi' };
    const extensions = new Map([['r1', extension(master({ version: 1 }), variant)]]);
    const { change } = publish(bare, { masters, stored: stored(), extensions }, {});
    expect(change?.resources[0]).toMatchObject({
      extension: { ...extendsM, variant },
      template: { version: 7 },
    });
    expect(assembledOf(change)).toMatchObject({ grams: 200 });
  });

  it('loses its variant when its directive is repeated without one', () => {
    const extensions = new Map([['r1', extension(master(), { type: 'geo', id: 'delhi' })]]);
    const { change } = publish(bare, { masters, stored: stored(), extensions }, directive);
    expect(change?.resources[0]?.extension).toEqual(extendsM);
  });

  it('extends nothing after a FULL without its directive', () => {
    const extensions = new Map([['r1', extension(master())]]);
    const { change } = publish(catalog(), { masters, stored: stored(), extensions }, { updateMode: 'FULL' });
    expect(change?.resources).toEqual([
      { id: 'r1', own: coffee('r1'), types: coffee('r1').resourceAttributes },
    ]);
  });

  it.each([
    ['repeats its directive', directive],
    ['does not', {}],
  ])('keeps what it inherited last when the master dropped it, whether the request %s', (_, given) => {
    const extensions = new Map([['r1', extension(master())]]);
    const { change } = publish(bare, { stored: stored(), extensions }, given);
    expect(assembledOf(change)).toMatchObject({ grams: 200, roast: 'dark' });
    expect(change?.resources[0]?.template).toEqual(master());
  });

  it('cannot newly extend what was dropped, even if it extended something else before', () => {
    const other = { extension: { extends: { masterResourceId: 'other' } }, template: master() };
    const outcome = publish(bare, { stored: stored(), extensions: new Map([['r1', other]]) }, directive);
    expect(faults(outcome)).toEqual([['BIZ_GENERIC_ERROR', masterPath]]);
  });

  it('keeps what it inherited when the master went to other networks, unless the request extends it again', () => {
    const far = new Map([['m', [master({ networkIds: ['other/network'] })]]]);
    const extensions = new Map([['r1', extension(master())]]);
    expect(publish(bare, { masters: far, stored: stored(), extensions }, {}).result.status).toBe('ACCEPTED');
    expect(faults(publish(bare, { masters: far, stored: stored(), extensions }, directive))).toEqual([
      ['BIZ_GENERIC_ERROR', masterPath],
    ]);
  });

  it('is refused when it has two directives', () => {
    const twice = {
      resourceDirectives: [...directive.resourceDirectives, { resourceId: 'r1', ...extendsM }],
    };
    expect(faults(publish(bare, { masters }, twice))).toEqual([
      ['BIZ_GENERIC_ERROR', '$.message.publishDirectives[0].resourceDirectives[1]'],
    ]);
  });
});

describe('what resources inherit', () => {
  const extendsM = { extends: { masterResourceId: 'm' } };
  const names = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
  const bare = (count: number) =>
    catalog({ resources: names(count).map((id) => ({ id, resourceAttributes: typed })) });
  const directive = (count: number) => ({
    resourceDirectives: names(count).map((resourceId) => ({ resourceId, ...extendsM })),
  });
  const known = (bytes: number, inherited = { catalog: 0, publish: 0, publisher: 0 }) => ({
    masters: new Map([['m', [master({ bytes })]]]),
    inherited,
  });
  const heldBefore = (template: MasterResource): StoredExtension => ({ extension: extendsM, template });

  it('is at most the limit of a resource: BIZ_GENERIC_ERROR, with the size', () => {
    expect(publish(bare(1), known(limits.resource), directive(1)).result.status).toBe('ACCEPTED');
    const { result } = publish(bare(1), known(limits.resource + 1), directive(1));
    expect(result).toMatchObject({
      status: 'REJECTED',
      errors: [{ code: 'BIZ_GENERIC_ERROR', details: { path: '$.message.catalogs[0].resources[0]' } }],
    });
    expect(result.errors?.[0]?.message).toContain('would inherit 1001 bytes of the master resource m');
  });

  it.each([
    ['catalog', { catalog: 4_000, publish: 0, publisher: 4_000 }],
    ['publish', { catalog: 0, publish: 9_000, publisher: 0 }],
    ['publisher', { catalog: 0, publish: 0, publisher: 19_000 }],
  ])(
    'is at most the limit of a %s: the resources beyond it are refused, in the order of the request',
    (_scope, inherited) => {
      const outcome = publish(bare(4), { ...known(500, inherited), stored: stored() }, directive(4));
      expect(ids(outcome).resources).toEqual(['r0', 'r1']);
      expect(outcome.inheritedBytes).toBe(1_000);
      expect(faults(outcome).map(([code]) => code)).toEqual(['BIZ_GENERIC_ERROR', 'BIZ_GENERIC_ERROR']);
    },
  );

  it('is never read where it is too much', () => {
    const content = new Proxy({} as Resource, { get: () => expect.unreachable() });
    const masters = new Map([['m', [master({ bytes: limits.resource + 1, content })]]]);
    expect(publish(bare(1), { masters }, directive(1)).result.status).toBe('REJECTED');
  });

  it('counts anew in a FULL, and only for what is new in a MERGE', () => {
    const full = { catalog: 5_000, publish: 0, publisher: 20_000 };
    const extensions = new Map(names(2).map((id) => [id, heldBefore(master({ bytes: 500 }))]));
    const all = { ...known(500, full), stored: stored(), extensions };
    expect(ids(publish(bare(3), all, directive(3))).resources).toEqual(['r0', 'r1']);
    const replaced = publish(bare(3), all, { ...directive(3), updateMode: 'FULL' });
    expect(ids(replaced).resources).toEqual(['r0', 'r1', 'r2']);
  });

  it('counts also where the resource is refused for another reason: it was assembled for that', () => {
    const bad = (id: string) => ({ id, resourceAttributes: { ...typed, roast: 'burnt' } });
    const inherited = { catalog: 0, publish: 9_500, publisher: 0 };
    const one = catalog({ resources: [bad('r0'), { id: 'r1', resourceAttributes: typed }, coffee('r2')] });
    const outcome = publish(one, known(500, inherited), directive(2));
    expect(ids(outcome).resources).toEqual(['r2']);
    expect(outcome.inheritedBytes).toBe(500);
  });

  it('stays what it was last where the template has grown too large', () => {
    const last = master({
      bytes: 400,
      edition: 3,
      content: { id: 'm', resourceAttributes: { ...typed, grams: 1 } },
    });
    const extensions = new Map([['r0', heldBefore(last)]]);
    const grown = { ...known(limits.resource + 1), stored: stored(), extensions };
    for (const given of [{}, directive(1), { ...directive(1), updateMode: 'FULL' as const }]) {
      const { change } = publish(bare(1), grown, given);
      expect(change?.resources[0]?.template).toMatchObject({ edition: 3 });
      expect(change?.resources[0]?.assembled).toContain('"grams":1');
    }
    expect(publish(bare(2), grown, directive(2)).result.status).toBe('PARTIAL');
  });
});

describe('a variant', () => {
  const [delhi, pune] = [
    { type: 'geo', id: 'delhi' },
    { type: 'geo', id: 'pune' },
  ] as const;
  const extendsM = { extends: { masterResourceId: 'm' } };
  const masters = new Map([['m', [master()]]]);
  const key = (id: string) => JSON.stringify(['m', 'geo', id]);
  const resource = (id: string): Resource => ({ id, resourceAttributes: typed });
  const bad = (id: string): Resource => ({ id, resourceAttributes: { ...typed, roast: 'burnt' } });
  const held = (variant: { type: string; id: string }) => ({
    extension: { ...extendsM, variant },
    template: master(),
  });
  const claim = (resourceId: string, variant: { type: string; id: string }) => ({
    resourceId,
    ...extendsM,
    variant,
  });

  it('is refused when another resource of the catalog holds it', () => {
    const known = { masters, stored: stored(), variantHolders: new Map([[key('delhi'), 'r9']]) };
    const directive = { resourceDirectives: [claim('r1', delhi)] };
    expect(faults(publish(catalog({ resources: [resource('r1')] }), known, directive))).toEqual([
      ['BIZ_GENERIC_ERROR', '$.message.publishDirectives[0].resourceDirectives[0].variant'],
    ]);
    expect(
      publish(catalog({ resources: [resource('r1')] }), known, { ...directive, updateMode: 'FULL' }).result
        .status,
    ).toBe('ACCEPTED');
  });

  it('may stay with who has it, and pass from one to another in one request', () => {
    const known = {
      masters,
      stored: stored(),
      extensions: new Map([
        ['r1', held(delhi)],
        ['r2', held(pune)],
      ]),
      variantHolders: new Map([
        [key('delhi'), 'r1'],
        [key('pune'), 'r2'],
      ]),
    };
    const both = catalog({ resources: [resource('r1'), resource('r2')] });
    const same = { resourceDirectives: [claim('r1', delhi), claim('r2', pune)] };
    const swapped = { resourceDirectives: [claim('r1', pune), claim('r2', delhi)] };
    expect(publish(both, known, same).result.status).toBe('ACCEPTED');
    expect(publish(both, known, swapped).result.status).toBe('ACCEPTED');

    const secondIsBad = publish(
      catalog({ resources: [resource('r1'), bad('r2'), coffee('r3')] }),
      known,
      swapped,
    );
    expect(ids(secondIsBad).resources).toEqual(['r3']);
  });

  it('is refused when its holder is in the request and keeps it', () => {
    const known = {
      masters,
      stored: stored(),
      extensions: new Map([['r2', held(delhi)]]),
      variantHolders: new Map([[key('delhi'), 'r2']]),
    };
    const outcome = publish(catalog({ resources: [resource('r1'), resource('r2')] }), known, {
      resourceDirectives: [claim('r1', delhi)],
    });
    expect(ids(outcome).resources).toEqual(['r2']);
  });
});
