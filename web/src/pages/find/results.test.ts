import { describe, expect, it } from 'vitest';
import type { FindAnswer } from '../../../../src/console/answers/find.ts';
import type { FindQuery } from '../../search/query.ts';
import { type Found, listFound, type Sorting, sortFound, spellPrice, valuesAt } from './results.ts';

const nothing: FindQuery = { text: '', network: '', type: '', conditions: [], expression: '', offset: 0 };
const offer = (id: string, value: unknown, resourceIds?: string[]) => ({
  id,
  ...(resourceIds && { resourceIds }),
  considerations: [{ id: 'c', considerationAttributes: { value, currency: 'INR' } }],
});
const answer = {
  catalogs: [
    {
      id: 'k',
      bppId: 'node.example.org',
      descriptor: { name: 'Catalog' },
      provider: {
        id: 'p',
        descriptor: { name: 'Provider' },
        availableAt: [{ geo: { type: 'Point', coordinates: [77, 12] } }],
      },
      resources: [
        { id: 'a', descriptor: { name: 'A' } },
        {
          id: 'b',
          resourceAttributes: {
            area: {
              type: 'Polygon',
              coordinates: [
                [
                  [0, 0],
                  [2, 0],
                  [2, 2],
                  [0, 2],
                ],
              ],
            },
          },
        },
      ],
      offers: [offer('dear', 30), offer('cheap', '12.5', ['a'])],
    },
  ],
} as unknown as FindAnswer;

describe('what was found', () => {
  it('has the offers that cover a resource, the lowest price first', () => {
    const [a, b] = listFound(answer, nothing);
    expect(a?.prices.map(({ value }) => value)).toEqual([12.5, 30]);
    expect(b?.prices.map(({ value }) => value)).toEqual([30]);
    expect(a?.prices[0] && spellPrice(a.prices[0])).toBe('₹12.50');
  });

  it('has a price with its unit, and that of a kWh before others, but no minimum', () => {
    const considerations = [
      { id: 'flat', considerationAttributes: { value: 0.2, currency: 'EUR', unit: 'session' } },
      { id: 'energy', considerationAttributes: { value: 0.5, minValue: 0.3, currency: 'EUR', unit: 'kWh' } },
      { id: 'least', considerationAttributes: { value: 0.1, currency: 'EUR', type: 'MINIMUM' } },
    ];
    const [catalog] = answer.catalogs;
    const priced = { catalogs: [{ ...catalog, offers: [{ id: 'tariff', considerations }] }] };
    const [found] = listFound(priced as unknown as FindAnswer, nothing);
    expect(found?.prices.map(spellPrice)).toEqual(['€0.30 to €0.50 per kWh', '€0.20 per session']);
  });

  it('stands where the resource says, otherwise at its provider', () => {
    const [a, b] = listFound(answer, nothing);
    expect(a?.places).toEqual([{ latitude: 12, longitude: 77 }]);
    expect(b?.places).toEqual([{ latitude: 1, longitude: 1 }]);
  });

  it('drops what only another resource of the catalog is offered for', () => {
    const path = '@.considerations[*].considerationAttributes.value';
    const atMost30 = { on: 'offer', path, operator: '<=', value: 30 } as const;
    expect(listFound(answer, { ...nothing, conditions: [atMost30] })).toHaveLength(2);
    expect(listFound(answer, { ...nothing, conditions: [{ ...atMost30, value: 20 }] })).toHaveLength(0);
  });

  it('is as far away as the discovery service says', () => {
    const area = { kind: 'circle' as const, latitude: 12, longitude: 77.01, meters: 5_000 };
    const ranking = [{ catalogId: 'k', resourceId: 'a', distanceMeters: 1_088 }];
    expect(listFound({ ...answer, ranking }, { ...nothing, area })[0]?.meters).toBe(1_088);
  });

  it('is in the order of the ranking, and as far away as that says, where two owners use the same ids', () => {
    const area = { kind: 'circle' as const, latitude: 12, longitude: 77.01, meters: 5_000 };
    const [catalog] = answer.catalogs;
    const owners = ['one', 'two'].map((bppId) => ({ ...catalog, bppId }));
    const ranking = ['a', 'b', 'a', 'b'].map((resourceId, index) => ({
      ...{ catalogId: 'k', resourceId },
      distanceMeters: 3_600 + index,
    }));
    const found = listFound({ ...answer, catalogs: owners, ranking } as FindAnswer, { ...nothing, area });
    expect(found.map(({ key, meters }) => [key, meters])).toEqual([
      ['one|k|a', 3_600],
      ['one|k|b', 3_601],
      ['two|k|a', 3_602],
      ['two|k|b', 3_603],
    ]);
  });

  it('is read at paths of members and arrays', () => {
    expect(valuesAt({ a: [{ 'b c': 1 }, { 'b c': 2 }] }, "@.a[*]['b c']")).toEqual([1, 2]);
  });
});

describe('sorting', () => {
  const found = (key: string, meters: number | undefined, ...values: number[]) =>
    ({ key, meters, prices: values.map((value) => ({ value })) }) as unknown as Found;
  const all = [found('far', 900, 5), found('near', 10, 30), found('nowhere', undefined)];
  const keys = (by: Sorting) => sortFound(all, by).map(({ key }) => key);

  it('is that of the answer, by distance, or by the lowest price; what has none comes last', () => {
    expect(keys('relevance')).toEqual(['far', 'near', 'nowhere']);
    expect(keys('distance')).toEqual(['near', 'far', 'nowhere']);
    expect(keys('price')).toEqual(['far', 'near', 'nowhere']);
  });
});
