import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Resource } from '../protocol/catalog.ts';
import { assembleResource, inherit } from './inherit.ts';

const typed = {
  '@context': 'https://schema.example/Coffee/v1/context.jsonld',
  '@type': 'Coffee',
};

const template: Resource = {
  id: 'master-coffee',
  descriptor: { name: 'Coffee powder', shortDesc: 'Coffee powder, 200 g' },
  resourceAttributes: {
    ...typed,
    weight: { value: 200, unit: 'G' },
    labels: ['vegetarian', 'fair'],
    aged: null,
  },
};

const own: Resource = {
  id: 'our-coffee',
  descriptor: { longDesc: 'Roasted yesterday.' },
  resourceAttributes: { ...typed, brand: 'Ours', weight: { tolerance: 2 } },
};

function withAttributes(attributes: Record<string, unknown>): Resource {
  return { id: 'our-coffee', resourceAttributes: { ...typed, ...attributes } };
}

function faultPaths(resource: Resource): (string | undefined)[] | undefined {
  return assembleResource(resource, template, ['message', 'catalogs', 0, 'resources', 3]).faults?.map(
    ({ path }) => path,
  );
}

describe('assembleResource', () => {
  it('leaves a resource without a template as it is', () => {
    expect(assembleResource(own, undefined)).toEqual({ assembled: own });
  });

  it('gives the attributes of the template and those that the resource adds, at every depth', () => {
    expect(assembleResource(own, template).assembled?.resourceAttributes).toEqual({
      ...typed,
      weight: { value: 200, unit: 'G', tolerance: 2 },
      labels: ['vegetarian', 'fair'],
      aged: null,
      brand: 'Ours',
    });
  });

  it('gives the descriptor of the template and what the resource adds to it', () => {
    expect(assembleResource(own, template).assembled?.descriptor).toEqual({
      name: 'Coffee powder',
      shortDesc: 'Coffee powder, 200 g',
      longDesc: 'Roasted yesterday.',
    });
  });

  it('keeps the id and the other members of the resource, and takes every other member of the template', () => {
    const { assembled } = assembleResource(
      { id: 'ours', rating: 5 } as Resource,
      { ...template, stock: 7 } as Resource,
    );
    expect(assembled).toEqual({ ...template, id: 'ours', rating: 5, stock: 7 });
  });

  it('refuses another descriptor, and another value of any other member, and names both values', () => {
    const renamed = { id: 'ours', descriptor: { name: 'Our own coffee' }, stock: 8 } as Resource;
    const { faults } = assembleResource(renamed, { ...template, stock: 7 } as Resource, ['resources', 0]);
    const endOf = ' in the master resource master-coffee, whose values cannot be changed';
    expect(faults?.map(({ message }) => message)).toEqual([
      `resources[0].descriptor.name is "Our own coffee", but "Coffee powder"${endOf}`,
      `resources[0].stock is 8, but 7${endOf}`,
    ]);
  });

  it('shortens a long value in the message, and never between the halves of a character', () => {
    const long = { ...template, descriptor: { name: '😀'.repeat(1_000) } };
    const { faults } = assembleResource({ id: 'ours', descriptor: { name: 'x' } }, long);
    expect(faults?.[0]?.message).toContain(`but "${'😀'.repeat(49)}… in`);
  });

  it('accepts a value repeated from the template, whatever the order of its members', () => {
    expect(
      faultPaths(withAttributes({ weight: { unit: 'G', value: 200 }, labels: ['vegetarian', 'fair'] })),
    ).toBeUndefined();
  });

  it.each([
    ['another scalar', { weight: { value: 250 } }, 'resourceAttributes.weight.value'],
    ['an array in another order', { labels: ['fair', 'vegetarian'] }, 'resourceAttributes.labels'],
    ['a longer array', { labels: ['vegetarian', 'fair', 'new'] }, 'resourceAttributes.labels'],
    ['a scalar for an object', { weight: 200 }, 'resourceAttributes.weight'],
    ['an array for an object', { weight: [200] }, 'resourceAttributes.weight'],
    ['a value for null', { aged: false }, 'resourceAttributes.aged'],
    ['an object for null', { aged: {} }, 'resourceAttributes.aged'],
    ['null for a value', { weight: null }, 'resourceAttributes.weight'],
    ['another @type', { '@type': 'Tea' }, "resourceAttributes['@type']"],
    ['another @context', { '@context': 'https://other.example' }, "resourceAttributes['@context']"],
  ])('refuses %s, with its path', (_, attributes, path) => {
    expect(faultPaths(withAttributes(attributes))).toEqual([`$.message.catalogs[0].resources[3].${path}`]);
  });

  it('reports every contradiction as BIZ_GENERIC_ERROR', () => {
    const { faults } = assembleResource(withAttributes({ weight: { value: 1, unit: 'KG' } }), template);
    expect(faults?.map(({ code, path }) => [code, path])).toEqual([
      ['BIZ_GENERIC_ERROR', '$.resourceAttributes.weight.value'],
      ['BIZ_GENERIC_ERROR', '$.resourceAttributes.weight.unit'],
    ]);
  });

  it('treats __proto__ and constructor as plain members on both sides', () => {
    const hostile: Resource = JSON.parse(
      '{"id":"x","resourceAttributes":{"@context":"c:x","@type":"T","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}',
    );
    const plain: Resource = { id: 'y', resourceAttributes: { '@context': 'c:x', '@type': 'T' } };
    for (const [mine, master] of [
      [hostile, plain],
      [plain, hostile],
      [hostile, hostile],
    ] as const) {
      const { assembled } = assembleResource({ ...mine }, master);
      expect(JSON.stringify(assembled)).toContain('"__proto__":{"polluted":true}');
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      expect(assembled?.resourceAttributes?.polluted).toBeUndefined();
    }
  });

  it('refuses another value of __proto__', () => {
    const master: Resource = JSON.parse(
      '{"id":"m","resourceAttributes":{"@context":"c:x","@type":"T","__proto__":{"a":1}}}',
    );
    const mine: Resource = JSON.parse(
      '{"id":"x","resourceAttributes":{"@context":"c:x","@type":"T","__proto__":{"a":2}}}',
    );
    expect(assembleResource(mine, master).faults?.map(({ path }) => path)).toEqual([
      '$.resourceAttributes.__proto__.a',
    ]);
  });
});

describe('inherit', () => {
  it("lets a new template's value stand where the resource had set another", () => {
    const renewed: Resource = { ...template, resourceAttributes: { ...typed, brand: 'Theirs' } };
    const { assembled } = inherit(own, renewed);
    expect(assembled.resourceAttributes).toEqual({ ...typed, brand: 'Theirs', weight: { tolerance: 2 } });
    expect(own.resourceAttributes).toMatchObject({ brand: 'Ours' });
  });
});

describe('inheriting, for any resource and template', () => {
  const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString');
  const attributes = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom(0, 1, 'x', null, true),
      fc.array(tie('value'), { maxLength: 2 }),
      tie('object'),
    ),
    object: fc
      .uniqueArray(fc.tuple(name, tie('value')), { selector: ([member]) => member, maxLength: 4 })
      .map((members) => Object.fromEntries(members)),
  })).object;
  const resource = attributes.map((object) => withAttributes(object as Record<string, unknown>));

  it('the assembled form contains the whole template', () => {
    fc.assert(
      fc.property(resource, resource, (mine, master) => {
        const { assembled } = inherit(mine, master);
        expect(contains(assembled.resourceAttributes, master.resourceAttributes)).toBe(true);
      }),
    );
  });

  it('what is accepted also contains the whole resource, and nothing that neither has', () => {
    fc.assert(
      fc.property(resource, resource, (mine, master) => {
        const { assembled } = assembleResource(mine, master);
        if (assembled === undefined) return;
        expect(contains(assembled.resourceAttributes, mine.resourceAttributes)).toBe(true);
        expect(
          leaves(assembled.resourceAttributes).filter(
            (leaf) =>
              !leaves(mine.resourceAttributes).includes(leaf) &&
              !leaves(master.resourceAttributes).includes(leaf),
          ),
        ).toEqual([]);
      }),
    );
  });

  it('assembling the assembled form again changes nothing', () => {
    fc.assert(
      fc.property(resource, resource, (mine, master) => {
        const { assembled } = inherit(mine, master);
        expect(assembleResource(assembled, master)).toEqual({ assembled });
      }),
    );
  });

  it('changes neither the resource nor the template', () => {
    fc.assert(
      fc.property(resource, resource, (mine, master) => {
        const before = JSON.stringify([mine, master]);
        inherit(mine, master);
        expect(JSON.stringify([mine, master])).toBe(before);
      }),
    );
  });
});

/** Whether the outer contains every value of the inner, through objects; arrays and scalars are values. */
function contains(outer: unknown, inner: unknown): boolean {
  if (!isObject(outer) || !isObject(inner)) return JSON.stringify(outer) === JSON.stringify(inner);
  return Object.entries(inner).every(
    ([member, value]) => Object.hasOwn(outer, member) && contains(outer[member], value),
  );
}

/** Each value with its path, as text. */
function leaves(value: unknown, path = ''): string[] {
  if (!isObject(value) || Object.keys(value).length === 0) return [`${path}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([member, inner]) => leaves(inner, `${path}/${member}`));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
