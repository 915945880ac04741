import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Catalog, Offer, Resource } from '../protocol/catalog.ts';
import { applyPublish, type CatalogChange, type UpdateMode } from './merge.ts';

const provider = { id: 'p', descriptor: { name: 'Provider' } };

function catalog(members: Partial<Catalog>): Catalog {
  return { id: 'c', descriptor: { name: 'Catalog' }, provider, ...members };
}

/** Publishes a catalog and accepts everything in it; a refused publish leaves the stored one unchanged. */
function publish(
  stored: Catalog | undefined,
  submitted: Catalog,
  updateMode: UpdateMode,
): Catalog | undefined {
  const { resources = [], offers = [] } = submitted;
  const change = applyPublish(
    stored && membersOf(stored),
    { catalog: submitted, resources, offers },
    updateMode,
  );
  return change ? applyChange(stored, change) : stored;
}

/** A replaced item keeps its position; a new one comes last. */
function applyChange(catalog: Catalog | undefined, change: CatalogChange): Catalog {
  const kept = change.removesOthers ? undefined : catalog;
  const resources = upsert(kept?.resources, change.resources);
  const offers = upsert(kept?.offers, change.offers);
  return {
    ...change.members,
    ...(resources.length > 0 && { resources }),
    ...(offers.length > 0 && { offers }),
  };
}

function upsert<T extends { id: string }>(kept: readonly T[] = [], changed: readonly T[]): T[] {
  return [...new Map([...kept, ...changed].map((item) => [item.id, item])).values()];
}

function membersOf({ resources: _, offers: __, ...members }: Catalog) {
  return members;
}

const stored = catalog({
  isActive: false,
  validity: { endDate: '2030-01-01' },
  bppId: 'bpp.example',
  resources: [{ id: 'r1', descriptor: { name: 'one', shortDesc: 'first' } }, { id: 'r2' }],
  offers: [{ id: 'o1', resourceIds: ['r1'] }],
});

describe('MERGE', () => {
  it('replaces whole resources and offers by id, adds new ones and keeps the others', () => {
    const merged = publish(
      stored,
      catalog({
        resources: [{ id: 'r1', descriptor: { name: 'uno' } }, { id: 'r3' }],
        offers: [{ id: 'o2' }],
      }),
      'MERGE',
    );
    expect(merged?.resources).toEqual([
      { id: 'r1', descriptor: { name: 'uno' } },
      { id: 'r2' },
      { id: 'r3' },
    ]);
    expect(merged?.offers).toEqual([{ id: 'o1', resourceIds: ['r1'] }, { id: 'o2' }]);
  });

  it('replaces the catalog-level members that are given and keeps the others', () => {
    const descriptor = { name: 'New name' };
    const merged = publish(
      stored,
      catalog({ descriptor, validity: { startDate: '2026-01-01' }, resources: [{ id: 'r1' }] }),
      'MERGE',
    );
    expect(merged).toMatchObject({
      descriptor,
      provider,
      isActive: false,
      bppId: 'bpp.example',
      validity: { startDate: '2026-01-01' },
    });
    expect(merged?.validity).not.toHaveProperty('endDate');
  });

  it('with empty lists changes the catalog-level members alone', () => {
    const merged = publish(stored, catalog({ isActive: true, resources: [] }), 'MERGE');
    expect(merged).toEqual({ ...stored, isActive: true });
  });

  it('into nothing makes the catalog', () => {
    expect(publish(undefined, stored, 'MERGE')).toEqual(stored);
  });

  it('with empty lists into nothing makes none', () => {
    expect(publish(undefined, catalog({ resources: [], offers: [] }), 'MERGE')).toBeUndefined();
  });

  it('needs nothing of the stored resources and offers', () => {
    const change = applyPublish(
      membersOf(stored),
      { catalog: stored, resources: [{ id: 'r9' }], offers: [] },
      'MERGE',
    );
    expect(change).toEqual({
      members: membersOf(stored),
      resources: [{ id: 'r9' }],
      offers: [],
      removesOthers: false,
    });
  });
});

describe('FULL', () => {
  it('leaves exactly what the request brought, catalog-level members included', () => {
    const submitted = catalog({ offers: [{ id: 'o9' }] });
    expect(publish(stored, submitted, 'FULL')).toEqual(submitted);
  });

  it('removes what is stored under an id that was not accepted', () => {
    const change = applyPublish(
      membersOf(stored),
      { catalog: stored, resources: [{ id: 'r1' }], offers: [] },
      'FULL',
    );
    expect(change && applyChange(stored, change)).toEqual({
      ...membersOf(stored),
      resources: [{ id: 'r1' }],
    });
  });

  it('with empty lists changes nothing: a catalog is never empty', () => {
    expect(publish(stored, catalog({ resources: [] }), 'FULL')).toBe(stored);
  });
});

describe('a catalog of which nothing is accepted', () => {
  it.each<UpdateMode>(['MERGE', 'FULL'])('changes nothing, by %s', (updateMode) => {
    expect(
      applyPublish(membersOf(stored), { catalog: stored, resources: [], offers: [] }, updateMode),
    ).toBeUndefined();
    expect(
      applyPublish(undefined, { catalog: stored, resources: [], offers: [] }, updateMode),
    ).toBeUndefined();
  });
});

describe('a catalog of which none of the resources is accepted', () => {
  it.each<UpdateMode>(['MERGE', 'FULL'])('changes nothing, by %s, though its offers are', (updateMode) => {
    const accepted = { catalog: stored, resources: [], offers: [{ id: 'o1' }] };
    expect(applyPublish(membersOf(stored), accepted, updateMode)).toBeUndefined();
    expect(applyPublish(undefined, accepted, updateMode)).toBeUndefined();
  });
});

describe('for any catalogs', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'constructor');
  const name = fc.constantFrom('x', 'y', 'z');
  const resources = fc.uniqueArray(fc.record({ id, descriptor: fc.record({ name }) }), {
    selector: (item) => item.id,
    maxLength: 4,
  }) as fc.Arbitrary<Resource[]>;
  const offers = fc.uniqueArray(fc.record({ id, resourceIds: fc.array(id, { maxLength: 2 }) }), {
    selector: (item) => item.id,
    maxLength: 3,
  }) as fc.Arbitrary<Offer[]>;
  const anyCatalog = fc
    .record({ isActive: fc.boolean(), bppId: name, resources, offers }, { requiredKeys: [] })
    .map(catalog);
  const filledCatalog = anyCatalog.filter(isFilled);
  const mode = fc.constantFrom<UpdateMode>('MERGE', 'FULL');

  it('publishing the same again changes nothing', () => {
    fc.assert(
      fc.property(
        fc.option(filledCatalog, { nil: undefined }),
        anyCatalog,
        mode,
        (before, submitted, updateMode) => {
          const once = publish(before, submitted, updateMode);
          expect(publish(once, submitted, updateMode)).toEqual(once);
        },
      ),
    );
  });

  it('merging what was just published in full changes nothing', () => {
    fc.assert(
      fc.property(filledCatalog, filledCatalog, (before, submitted) => {
        const full = publish(before, submitted, 'FULL');
        expect(publish(full, submitted, 'MERGE')).toEqual(full);
      }),
    );
  });

  it('what FULL leaves does not depend on what was there', () => {
    fc.assert(
      fc.property(filledCatalog, filledCatalog, filledCatalog, (one, other, submitted) => {
        expect(publish(one, submitted, 'FULL')).toEqual(publish(other, submitted, 'FULL'));
      }),
    );
  });

  it('the order of merges that name different things does not matter', () => {
    fc.assert(
      fc.property(filledCatalog, filledCatalog, filledCatalog, (before, first, second) => {
        const apart = catalog({
          resources: second.resources?.filter(
            ({ id: own }) => !first.resources?.some((other) => other.id === own),
          ),
          offers: second.offers?.filter(({ id: own }) => !first.offers?.some((other) => other.id === own)),
        });
        const oneWay = publish(publish(before, first, 'MERGE'), apart, 'MERGE');
        const otherWay = publish(publish(before, apart, 'MERGE'), first, 'MERGE');
        expect(sorted(oneWay)).toEqual(sorted(otherWay));
      }),
    );
  });

  it('a stored catalog is never empty', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyCatalog, mode), { maxLength: 5 }), (publishes) => {
        const end = publishes.reduce<Catalog | undefined>(
          (now, [submitted, updateMode]) => publish(now, submitted, updateMode),
          undefined,
        );
        expect(end === undefined || isFilled(end)).toBe(true);
      }),
    );
  });
});

function isFilled({ resources = [], offers = [] }: Catalog): boolean {
  return resources.length + offers.length > 0;
}

/** Two catalogs with the same content are equal, whatever the order. */
function sorted(value: Catalog | undefined): unknown {
  const byId = (items: readonly { id: string }[] = []) =>
    [...items].sort((one, other) => (one.id < other.id ? -1 : 1));
  return value && { ...value, resources: byId(value.resources), offers: byId(value.offers) };
}
