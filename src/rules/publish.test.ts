import { describe, expect, it } from 'vitest';
import type { Catalog, Resource } from '../protocol/catalog.ts';
import type { PublishDirective } from '../protocol/publish-messages.ts';
import type { MasterResource, StoredExtension } from './extends.ts';
import { type PublishOutcome, processCatalog } from './publish.ts';
import { type Known, type StoredCatalog, submissionsOf } from './submission.ts';
import { createAttributeChecker } from './typed-attributes.ts';

const context = 'https://schema.example/Coffee/v1/context.jsonld';
const typed = { '@context': context, '@type': 'Coffee' };
const checker = createAttributeChecker({
  schemas: [
    {
      address: 'https://schema.example/Coffee/v1/schema.json',
      document: {
        required: ['grams'],
        properties: { grams: { type: 'number', minimum: 0 }, roast: { enum: ['light', 'dark'] } },
      },
    },
  ],
});

const publisher = {
  identity: 'bpp.example/subscribers.beckn.one',
  recordSubscriberId: 'api.bpp.example',
  registryName: 'subscribers.beckn.one',
  bppId: 'bpp.example',
  bppUri: 'https://bpp.example/beckn',
};
const somebodyElse = 'other.example/subscribers.beckn.one';

const nothing: Known = { extensions: new Map(), masters: new Map(), variantHolders: new Map() };

function catalog(members: Partial<Catalog> = {}): Catalog {
  return {
    id: 'c',
    descriptor: { name: 'Catalog' },
    provider: { id: 'p', descriptor: { name: 'Provider' } },
    resources: [coffee('r1')],
    ...members,
  };
}

function coffee(id: string, attributes: Record<string, unknown> = {}): Resource {
  return { id, resourceAttributes: { ...typed, grams: 250, ...attributes } };
}

function stored(members: Partial<StoredCatalog> = {}): StoredCatalog {
  return {
    owner: publisher.identity,
    catalogType: 'REGULAR',
    members: {
      id: 'c',
      descriptor: { name: 'Old' },
      provider: { id: 'p', descriptor: { name: 'Provider' } },
    },
    ...members,
  };
}

/** Publishes as the first catalog of a message, under a directive unless that is undefined. */
function publish(
  submitted: Catalog,
  known: Partial<Known> = {},
  directive?: Partial<PublishDirective>,
): PublishOutcome {
  const [submission] = submissionsOf(
    {
      catalogs: [submitted],
      ...(directive && {
        publishDirectives: [{ catalogId: submitted.id, catalogType: 'REGULAR', ...directive }],
      }),
    },
    'default/network',
  );
  if (submission === undefined) throw new Error('there is one catalog');
  return processCatalog(submission, publisher, { ...nothing, ...known }, checker);
}

function faults({ result }: PublishOutcome): [string, string | undefined][] {
  return (result.errors ?? []).map(({ code, details }) => [code, details?.path]);
}

function ids(outcome: PublishOutcome): { resources?: string[]; offers?: string[] } {
  return {
    resources: outcome.change?.resources.map(({ id }) => id),
    offers: outcome.change?.offers.map(({ id }) => id),
  };
}

describe('a catalog that is accepted', () => {
  it('is ACCEPTED with what was counted, and written', () => {
    const outcome = publish(
      catalog({
        resources: [coffee('r1'), coffee('r2'), { id: 'r3' }],
        offers: [
          { id: 'o1', provider: { id: 'p2' } },
          { id: 'o2', provider: { id: 'p' } },
        ],
      }),
    );
    expect(outcome.result).toEqual({
      catalogId: 'c',
      status: 'ACCEPTED',
      stats: { itemCount: 3, providerCount: 2, categoryCount: 1 },
    });
    expect(ids(outcome)).toEqual({ resources: ['r1', 'r2', 'r3'], offers: ['o1', 'o2'] });
  });

  it('without a directive is REGULAR, merged, and visible to the default network', () => {
    expect(publish(catalog(), { stored: stored() }).change).toMatchObject({
      catalogType: 'REGULAR',
      removesOthers: false,
      networkIds: ['default/network'],
    });
  });

  it('goes to the networks of its directive, each once; without visibleTo to the default network, on every publish', () => {
    const visibleTo = ['a/x', 'b/y', 'a/x'];
    expect(publish(catalog(), {}, { visibleTo }).change?.networkIds).toEqual(['a/x', 'b/y']);
    expect(publish(catalog(), { stored: stored() }, { updateMode: 'FULL' }).change?.networkIds).toEqual([
      'default/network',
    ]);
  });

  it('leaves the service with bppId and bppUri of the request where it gives none, and is stored as published', () => {
    const given = publish(catalog({ bppUri: 'https://elsewhere.example' })).change;
    expect(given?.head).toMatchObject({ bppId: 'bpp.example', bppUri: 'https://elsewhere.example' });
    expect(given?.members).toEqual({
      ...catalog(),
      resources: undefined,
      bppUri: 'https://elsewhere.example',
    });
    expect(given?.members).not.toHaveProperty('bppId');
  });

  it('may have offers alone', () => {
    const outcome = publish(catalog({ resources: undefined, offers: [{ id: 'o1' }] }));
    expect(outcome.result).toMatchObject({
      status: 'ACCEPTED',
      stats: { itemCount: 0, providerCount: 1, categoryCount: 0 },
    });
  });
});

describe('a catalog that is refused as a whole', () => {
  function expectRejected(outcome: PublishOutcome, code: string, path: string): void {
    expect(faults(outcome)).toEqual([[code, path]]);
    expect(outcome.result).toMatchObject({ catalogId: 'c', status: 'REJECTED' });
    expect(outcome.change).toBeUndefined();
  }

  it("is somebody else's: AUT_UNAUTHORIZED_ACTION", () => {
    const outcome = publish(catalog(), { stored: stored({ owner: somebodyElse }) });
    expectRejected(outcome, 'AUT_UNAUTHORIZED_ACTION', '$.message.catalogs[0].id');
  });

  it('names somebody else as its bppId: AUT_UNAUTHORIZED_ACTION', () => {
    const outcome = publish(catalog({ bppId: 'other.example' }));
    expectRejected(outcome, 'AUT_UNAUTHORIZED_ACTION', '$.message.catalogs[0].bppId');
  });

  it.each(['bpp.example', 'bpp.example/subscribers.beckn.one', 'api.bpp.example'])(
    'may name its publisher %s',
    (bppId) => {
      expect(publish(catalog({ bppId })).result.status).toBe('ACCEPTED');
    },
  );

  it('changes its type: BIZ_GENERIC_ERROR', () => {
    expectRejected(
      publish(catalog(), { stored: stored() }, { catalogType: 'MASTER' }),
      'BIZ_GENERIC_ERROR',
      '$.message.publishDirectives[0].catalogType',
    );
    expectRejected(
      publish(catalog(), { stored: stored({ catalogType: 'MASTER' }) }),
      'BIZ_GENERIC_ERROR',
      '$.message.catalogs[0]',
    );
  });

  it('is a MASTER with offers: BIZ_GENERIC_ERROR', () => {
    const outcome = publish(catalog({ offers: [{ id: 'o1' }] }), {}, { catalogType: 'MASTER' });
    expectRejected(outcome, 'BIZ_GENERIC_ERROR', '$.message.catalogs[0].offers');
    expect(publish(catalog({ offers: [] }), {}, { catalogType: 'MASTER' }).result.status).toBe('ACCEPTED');
  });

  it('has provider attributes that do not conform: SCH_SCHEMA_VALIDATION_FAILED', () => {
    const provider = { id: 'p', descriptor: { name: 'P' }, providerAttributes: { ...typed } };
    expectRejected(
      publish(catalog({ provider })),
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.message.catalogs[0].provider.providerAttributes.grams',
    );
  });

  it('would be left with neither resource nor offer: BIZ_GENERIC_ERROR', () => {
    expectRejected(publish(catalog({ resources: [] })), 'BIZ_GENERIC_ERROR', '$.message.catalogs[0]');
    expectRejected(
      publish(catalog({ resources: [] }), { stored: stored() }, { updateMode: 'FULL' }),
      'BIZ_GENERIC_ERROR',
      '$.message.catalogs[0]',
    );
  });

  it('has nothing that is acceptable: the faults of its parts', () => {
    const outcome = publish(catalog({ resources: [coffee('r1', { grams: -1 })] }), { stored: stored() });
    expectRejected(
      outcome,
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.message.catalogs[0].resources[0].resourceAttributes.grams',
    );
  });
});

describe('a released catalog id', () => {
  it('starts anew with whoever publishes it next: nothing of the former catalog stays, nor its type', () => {
    const released = stored({ owner: undefined, catalogType: 'MASTER' });
    const { result, change } = publish(catalog(), { stored: released });
    expect(result.status).toBe('ACCEPTED');
    expect(change).toMatchObject({
      removesOthers: true,
      catalogType: 'REGULAR',
      members: { descriptor: { name: 'Catalog' } },
    });
  });
});

describe('a catalog of which parts are refused', () => {
  it('is PARTIAL: the others are accepted, each fault has its path', () => {
    const outcome = publish(
      catalog({
        resources: [coffee('r1'), coffee('r2', { grams: -1, roast: 'burnt' }), { id: 'r3' }],
        offers: [
          { id: 'o1', offerAttributes: { ...typed, grams: '1' } },
          {
            id: 'o2',
            considerations: [
              { id: 'c1', considerationAttributes: { ...typed, grams: 1 } },
              { id: 'c2', considerationAttributes: typed },
            ],
          },
          { id: 'o3', provider: { id: 'p', providerAttributes: { ...typed } } },
          {
            id: 'o4',
            addOns: [
              { id: 'a1', resourceAttributes: { ...typed } },
              { id: 'a2', offerAttributes: { ...typed } },
            ],
          },
          { id: 'o5' },
        ],
      }),
    );
    expect(outcome.result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 2 } });
    expect(ids(outcome)).toEqual({ resources: ['r1', 'r3'], offers: ['o5'] });
    expect(faults(outcome)).toEqual(
      [
        'resources[1].resourceAttributes.grams',
        'resources[1].resourceAttributes.roast',
        'offers[0].offerAttributes.grams',
        'offers[1].considerations[1].considerationAttributes.grams',
        'offers[2].provider.providerAttributes.grams',
        'offers[3].addOns[0].resourceAttributes.grams',
        'offers[3].addOns[1].offerAttributes.grams',
      ].map((path) => ['SCH_SCHEMA_VALIDATION_FAILED', `$.message.catalogs[0].${path}`]),
    );
  });

  it('is PARTIAL when only offers are accepted', () => {
    const outcome = publish(catalog({ resources: [coffee('r1', { grams: '1' })], offers: [{ id: 'o1' }] }));
    expect(outcome.result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 0 } });
  });

  it('by FULL holds only what was accepted afterwards', () => {
    const submitted = catalog({ resources: [coffee('r1', { grams: '1' }), coffee('r2')] });
    const outcome = publish(submitted, { stored: stored() }, { updateMode: 'FULL' });
    expect(ids(outcome).resources).toEqual(['r2']);
    expect(outcome.change?.removesOthers).toBe(true);
  });

  it('lists a thousand faults and says that there are more', () => {
    const resources = Array.from({ length: 3000 }, (_, index) => coffee(`r${index}`, { grams: -1 }));
    const { result } = publish(catalog({ resources: [...resources, coffee('good')] }));
    expect(result).toMatchObject({ status: 'PARTIAL', stats: { itemCount: 1 } });
    expect(result.errors).toHaveLength(1001);
    expect(result.errors?.at(-1)).toEqual({
      code: 'BIZ_GENERIC_ERROR',
      message: 'at least 2000 more faults are not listed',
    });
  });
});

function master(members: Partial<MasterResource> = {}): MasterResource {
  return {
    catalogKey: 1,
    version: 7,
    owner: somebodyElse,
    networkIds: ['default/network'],
    resource: {
      id: 'm',
      descriptor: { name: 'Master', shortDesc: 'short' },
      resourceAttributes: { ...typed, grams: 200 },
    },
    ...members,
  };
}

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

  it('is checked and kept in its assembled form, beside its own', () => {
    const { result, change } = publish(bare, { masters }, directive);
    expect(result.status).toBe('ACCEPTED');
    expect(change?.resources).toEqual([
      {
        id: 'r1',
        own: bare.resources?.[0],
        assembled: {
          id: 'r1',
          descriptor: { name: 'Master', shortDesc: 'short' },
          resourceAttributes: { ...typed, grams: 200, roast: 'dark' },
        },
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
    const roasted = master({ resource: { id: 'm', resourceAttributes: { ...typed, roast: 'burnt' } } });
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
    expect(change?.resources[0]?.assembled.resourceAttributes).toMatchObject({ grams: 200 });
  });

  it('loses its variant when its directive is repeated without one', () => {
    const extensions = new Map([['r1', extension(master(), { type: 'geo', id: 'delhi' })]]);
    const { change } = publish(bare, { masters, stored: stored(), extensions }, directive);
    expect(change?.resources[0]?.extension).toEqual(extendsM);
  });

  it('extends nothing after a FULL without its directive', () => {
    const extensions = new Map([['r1', extension(master())]]);
    const { change } = publish(catalog(), { masters, stored: stored(), extensions }, { updateMode: 'FULL' });
    expect(change?.resources[0]).toMatchObject({ id: 'r1', assembled: coffee('r1') });
    expect(change?.resources[0]?.extension).toBeUndefined();
  });

  it.each([
    ['repeats its directive', directive],
    ['does not', {}],
  ])('keeps what it inherited last when the master dropped it, whether the request %s', (_, given) => {
    const extensions = new Map([['r1', extension(master())]]);
    const { change } = publish(bare, { stored: stored(), extensions }, given);
    expect(change?.resources[0]?.assembled.resourceAttributes).toMatchObject({ grams: 200, roast: 'dark' });
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
