import { describe, expect, it } from 'vitest';
import {
  catalog,
  coffee,
  faults,
  ids,
  publish,
  somebodyElse,
  stored,
  typed,
} from '../../tests/support/catalogs/coffee-publisher.ts';
import { star } from '../../tests/support/values/costly-geometries.ts';
import type { Offer, Resource } from '../protocol/catalog.ts';
import type { PublishOutcome } from './publish.ts';

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

  it("would take a kept master resource where it is somebody else's: BIZ_GENERIC_ERROR", () => {
    const known = { stored: stored({ catalogType: 'MASTER' }), contestedId: 'm' };
    expectRejected(
      publish(catalog(), known, { catalogType: 'MASTER', visibleTo: ['other/network'] }),
      'BIZ_GENERIC_ERROR',
      '$.message.publishDirectives[0].visibleTo',
    );
    const replaced = publish(catalog(), known, { catalogType: 'MASTER', updateMode: 'FULL' });
    expect(replaced.result.status).toBe('ACCEPTED');
  });

  it('has provider attributes that do not conform: SCH_SCHEMA_VALIDATION_FAILED', () => {
    const provider = { id: 'p', descriptor: { name: 'P' }, providerAttributes: { ...typed } };
    expectRejected(
      publish(catalog({ provider })),
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.message.catalogs[0].provider.providerAttributes.grams',
    );
  });

  it('has a provider with a ring that crosses itself too often: SCH_SCHEMA_VALIDATION_FAILED', () => {
    const provider = { id: 'p', descriptor: { name: 'P' }, availableAt: [{ geo: star(101) }] };
    expectRejected(
      publish(catalog({ provider })),
      'SCH_SCHEMA_VALIDATION_FAILED',
      '$.message.catalogs[0].provider.availableAt[0].geo.coordinates[0]',
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

  it.each(['MERGE', 'FULL'] as const)(
    'is REJECTED by %s and unchanged when none of its resources is accepted, whatever its offers are',
    (updateMode) => {
      const submitted = catalog({ resources: [coffee('r1', { grams: '1' })], offers: [{ id: 'o1' }] });
      const known = { stored: stored(), servedIds: new Set(['r1']) };
      const outcome = publish(submitted, known, { updateMode });
      expect(outcome.result.status).toBe('REJECTED');
      expect(outcome.result.errors).toHaveLength(1);
      expect(outcome.result.errors?.[0]?.message).not.toContain('no longer');
      expect(outcome.change).toBeUndefined();
    },
  );

  it('says of what was served, and falls out of a FULL because its new form is refused, that it no longer is', () => {
    const bad = { grams: '1' };
    const submitted = catalog({ resources: [coffee('r1', bad), coffee('r2'), coffee('new', bad)] });
    const known = { stored: stored(), servedIds: new Set(['r1', 'r2']) };
    const messages = publish(submitted, known, { updateMode: 'FULL' }).result.errors?.map(
      ({ message }) => message,
    );
    expect(messages?.[0]).toMatch(
      /^message\.catalogs\[0\]\.resources\[0\]\..*; the resource is no longer served$/,
    );
    expect(messages?.[1]).not.toContain('served');
    const merged = publish(submitted, known, { updateMode: 'MERGE' }).result.errors;
    expect(JSON.stringify(merged)).not.toContain('served');
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

it('a resource or an offer with a ring that crosses itself too often, at any depth, is refused alone', () => {
  const area = { zones: [{}, { area: star(101) }] };
  const outcome = publish(
    catalog({
      resources: [coffee('r1'), coffee('r2', area), { id: 'r3', deep: area } as Resource],
      offers: [{ id: 'o1' }, { id: 'o2', provider: { id: 'p', area } } as Offer],
    }),
  );
  expect(outcome.result.status).toBe('PARTIAL');
  expect(ids(outcome)).toEqual({ resources: ['r1'], offers: ['o1'] });
  const inside = 'zones[1].area.coordinates[0]';
  expect(faults(outcome)).toEqual(
    [
      `resources[1].resourceAttributes.${inside}`,
      `resources[2].deep.${inside}`,
      `offers[1].provider.area.${inside}`,
    ].map((path) => ['SCH_SCHEMA_VALIDATION_FAILED', `$.message.catalogs[0].${path}`]),
  );
});
