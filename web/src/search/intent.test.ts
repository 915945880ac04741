import { describe, expect, it } from 'vitest';
import { buildExpression, buildRequest, readIntent } from './intent.ts';
import { type Condition, type FindQuery, readQuery, toParams } from './query.ts';

const nothing: FindQuery = { text: '', network: '', type: '', conditions: [], expression: '', offset: 0 };
const connector: Condition = {
  on: 'resource',
  path: '@.resourceAttributes.attributes.connectorType',
  operator: '==',
  value: 'CCS2',
};
const price: Condition = {
  on: 'offer',
  path: '@.considerations[*].considerationAttributes.value',
  operator: '<=',
  value: 20,
};

describe('the intent of a form', () => {
  it('asks for everything where nothing is filled in', () => {
    expect(buildRequest(nothing).message.intent).toEqual({
      filters: { type: 'jsonpath', expression: '$.catalogs[*].resources[*]' },
    });
  });

  it('asks a condition on the resource of the resource', () => {
    expect(buildExpression({ ...nothing, conditions: [connector] })).toBe(
      '$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == "CCS2"]',
    );
  });

  it('asks a condition on an offer of the offer, below its array in a filter of its own', () => {
    expect(buildExpression({ ...nothing, conditions: [price] })).toBe(
      '$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.value <= 20]]',
    );
  });

  it('asks both by the offers of the catalog', () => {
    expect(buildExpression({ ...nothing, conditions: [connector, price] })).toBe(
      '$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == "CCS2" && ' +
        '$.catalogs[*].offers[?@.considerations[?@.considerationAttributes.value <= 20]]]',
    );
  });

  it('names a type by its context and its name', () => {
    expect(buildExpression({ ...nothing, type: 'https://example.org/c.jsonld#Charger' })).toBe(
      `$.catalogs[*].resources[?@.resourceAttributes['@context'] == "https://example.org/c.jsonld" && ` +
        `@.resourceAttributes['@type'] == "Charger"]`,
    );
  });

  it('takes an expression from $ as it is, and any other as a condition beside the rest', () => {
    expect(buildExpression({ ...nothing, expression: ' $.catalogs[*].offers ' })).toBe(
      '$.catalogs[*].offers',
    );
    expect(
      buildExpression({ ...nothing, conditions: [connector], expression: '@.id == "a" || @.id == "b"' }),
    ).toBe(
      '$.catalogs[*].resources[?@.resourceAttributes.attributes.connectorType == "CCS2" && (@.id == "a" || @.id == "b")]',
    );
  });

  it('closes the ring of a polygon, longitude first', () => {
    const area = {
      kind: 'polygon' as const,
      corners: [
        [1, 2],
        [3, 4],
        [5, 0],
      ] as [number, number][],
    };
    const [entry] = buildRequest({ ...nothing, area }).message.intent.spatial ?? [];
    expect(entry).toMatchObject({
      op: 'S_INTERSECTS',
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [2, 1],
            [4, 3],
            [0, 5],
            [2, 1],
          ],
        ],
      },
    });
  });
});

describe('the form of an intent', () => {
  const circle = { kind: 'circle' as const, latitude: 12.97, longitude: 77.6, meters: 4_000 };
  const triangle = {
    kind: 'polygon' as const,
    corners: [
      [1, 2],
      [3, 4],
      [5, 0],
    ] as [number, number][],
  };

  it.each<[string, FindQuery]>([
    ['words', { ...nothing, text: 'hydrogen pump' }],
    ['words in a circle', { ...nothing, text: 'pump', area: circle }],
    ['a filter in a polygon', { ...nothing, conditions: [connector], area: triangle }],
  ])('asks the same: %s', (_, query) => {
    const { intent } = buildRequest(query).message;
    const read = readIntent(intent);
    expect(read && buildRequest(read).message.intent).toEqual(intent);
  });

  it.each<[string, object]>([
    ['two areas', { spatial: [circle, circle].map((area) => spatialOf(area)) }],
    ['other targets', { spatial: [{ ...spatialOf(circle), targets: ['$.catalogs[*].offers'] }] }],
    ['another operator', { spatial: [{ ...spatialOf(circle), op: 'S_DISJOINT' }] }],
    ['a search by image', { mediaSearch: {} }],
  ])('does not exist for %s', (_, intent) => {
    expect(readIntent(intent)).toBeUndefined();
  });

  function spatialOf(area: FindQuery['area']) {
    const [entry] = buildRequest({ ...nothing, area }).message.intent.spatial ?? [];
    if (!entry) throw new Error('no area');
    return entry;
  }
});

describe('the address of a search', () => {
  it.each<[string, FindQuery]>([
    ['a circle', { ...nothing, area: { kind: 'circle', latitude: 12.97, longitude: -77.5, meters: 3000 } }],
    [
      'a polygon',
      {
        ...nothing,
        area: {
          kind: 'polygon',
          corners: [
            [1, 2],
            [3, 4],
            [5, 0],
          ],
        },
      },
    ],
    ['conditions', { ...nothing, text: 'a & b', type: 'x#Y', conditions: [connector, price], offset: 100 }],
  ])('reproduces %s', (_, query) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries(toParams(query))) {
      if (value !== undefined) params.set(name, String(value));
    }
    expect(readQuery(new URLSearchParams(params.toString()))).toEqual({ ...query, area: query.area });
  });

  it('asks for nothing where it is damaged', () => {
    expect(readQuery(new URLSearchParams('where={&near=1&within=x&area=1,2;3'))).toEqual({
      ...nothing,
      area: undefined,
    });
  });
});
