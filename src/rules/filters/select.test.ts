import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import {
  arbitraryFilter,
  arbitraryLocalFilter,
  arbitraryMembers,
} from '../../../tests/support/values/arbitrary-filter.ts';
import type { Json } from '../../protocol/json.ts';
import { localFilter } from './local-filter.ts';
import { parseFilter } from './parse.ts';
import { type CatalogView, selectResources } from './select.ts';

const view: CatalogView = {
  members: { id: 'c', provider: { id: 'p' } },
  resources: [{ id: 'r0', a: { b: 1 } }, { id: 'r1', a: { b: 2 } }, { id: 'r2' }],
  offers: [
    { offer: { id: 'o0', resourceIds: ['r1'] }, covers: new Set([1]) },
    { offer: { id: 'o1' }, covers: 'all' },
  ],
};
const select = (expression: string, catalog = view) => [
  ...selectResources(parseFilter(expression, { acceptPostfix: true }), catalog),
];

describe('selectResources', () => {
  it.each([
    ['a resource', '$.catalogs[*].resources[?@.id == "r1"]', [1]],
    ['a node inside a resource', '$.catalogs[*].resources[*].a.b', [0, 1]],
    ['an offer, the resources that it covers', '$.catalogs[*].offers[?@.id == "o0"]', [1]],
    ['a node inside an offer', '$.catalogs[*].offers[*].resourceIds[*]', [1]],
    ['an offer on everything, all of them', '$.catalogs[*].offers[?@.id == "o1"]', [0, 1, 2]],
    ['a provider, all of them', '$.catalogs[*].provider[?@ == "p"]', [0, 1, 2]],
    ['a catalog, all of them', '$.catalogs[?@.id == "c"]', [0, 1, 2]],
    ['the list of resources, all of them', '$.catalogs[*].resources', [0, 1, 2]],
    ['the list of offers, all of them', '$.catalogs[*].offers', [0, 1, 2]],
    ['the payload, all of them', '$', [0, 1, 2]],
    ['its list of catalogs, all of them', '$.catalogs', [0, 1, 2]],
    ['nothing, none', '$.catalogs[?@.id == "x"]', []],
    ['another catalog, none', '$.catalogs[1]', []],
    ['children of resources, not resources', '$.catalogs[*].resources[*][?@.b == 2]', [1]],
    ['conditions on other parts', '$.catalogs[?@.offers[?@.id == "o1"]].resources[?@.a.b > 1]', [1]],
    [
      'the form of PostgreSQL',
      '$.catalogs[*] ? (exists(@.offers[*] ? (@.id == "o1"))).resources[*] ? (@.a.b == 1)',
      [0],
    ],
    ['everything below', '$..b', [0, 1]],
  ])('selects by %s', (_, expression, indexes) => {
    expect(select(expression).sort()).toEqual(indexes);
  });

  it('shows no list that is empty', () => {
    expect(select('$.catalogs[?@.offers]', { ...view, offers: [] })).toEqual([]);
    expect(select('$.catalogs[?@.offers]')).toEqual([0, 1, 2]);
  });
});

describe('localFilter', () => {
  it.each([
    ['$.catalogs[*].resources[?@.a == 1]', true],
    ["$['catalogs'][0]['resources'][?@.a == 1, ?@.b].c[*]", true],
    ['$.catalogs[*].resources[*]', true],
    ['$.catalogs[*].resources[*] ? (@.a == 1)', true],
    ['$.catalogs[*].resources[?@.a[?@.b == $.catalogs[0].id]]', false],
    ['$.catalogs[*].resources[?match(@.a, $.catalogs[0].id)]', false],
    ['$.catalogs[*].resources[?length(@.a) == length($.catalogs)]', false],
    ['$.catalogs[*].resources[?!(@.a || count($.catalogs) == 1)]', false],
    ['$.catalogs[*].resources[*].a ? (@.b like_regex "x" || @.c == $.catalogs[0].id)', false],
    ['$.catalogs[*].resources[0]', false],
    ['$.catalogs[1].resources[*]', false],
    ['$.catalogs[?@.isActive].resources[*]', false],
    ['$..resources[*]', false],
    ['$.catalogs[*].resources', false],
    ['$.catalogs[*].offers[*]', false],
    ['$', false],
  ])('knows whether %s looks at each resource alone', (expression, isLocal) => {
    const { query } = parseFilter(expression, { acceptPostfix: true });
    expect(localFilter(query) !== undefined).toBe(isLocal);
  });

  it('selects the same resources one by one as in the whole catalog', () => {
    const resources = fc.array(arbitraryMembers, { maxLength: 5 });
    let local = 0;
    fc.assert(
      fc.property(
        fc.oneof(arbitraryLocalFilter, arbitraryFilter),
        resources,
        arbitraryMembers,
        (expression, list, provider) => {
          const filter = parseFilter(expression, { acceptPostfix: true });
          const isSelected = localFilter(filter.query);
          const catalog: CatalogView = { members: { provider }, resources: list, offers: view.offers };
          if (isSelected === undefined) return;
          local++;
          const alone = list.flatMap((resource: Json, index) => (isSelected(resource) ? [index] : []));
          expect([...selectResources(filter, catalog)].sort()).toEqual(alone);
        },
      ),
      { numRuns: runs(1_000) },
    );
    expect(local).toBeGreaterThan(runs(300));
  });
});
