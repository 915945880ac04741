import { describe, expect, it } from 'vitest';
import type { Offer, Resource } from '../../../src/protocol/catalog.ts';
import type { SpatialConstraint } from '../../../src/protocol/discover-messages.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import {
  answerByTheBook,
  findByTheBook,
  type KnownCatalog,
  type Question,
} from '../../support/search/discover-oracle.ts';

// The oracle that the index is compared with must itself follow the specification.

const now = new Date('2026-06-01T12:00:00Z');
const providerGeo = '$.catalogs[*].provider.availableAt[*].geo';

const tea = catalog('tea', 'tea.example/reg', {
  resources: [
    { id: 'assam', descriptor: { name: 'Assam tea', shortDesc: 'black' }, price: 5 },
    { id: 'sencha', descriptor: { name: 'Sencha', shortDesc: 'green tea from Japan' }, price: 9 },
  ],
  offers: [{ id: 'bulk', resourceIds: ['assam'], descriptor: { name: 'Wholesale' } }],
  at: [10, 50],
});
const coffee = catalog('coffee', 'coffee.example/reg', {
  resources: [{ id: 'arabica', descriptor: { name: 'Arabica coffee' }, price: 9 }],
  at: [10.01, 50],
});
const teaOffers = catalog('tea-offers', 'tea.example/reg', {
  offers: [{ id: 'night', descriptor: { name: 'Midnight' } }],
  at: [10, 50],
});
const index = [tea, coffee, teaOffers];

describe('the oracle of discover', () => {
  it.each<[string, Question['intent'], string[]]>([
    ['any word, the better match first', { textSearch: 'green tea' }, ['sencha', 'assam']],
    ['a word with a typing error', { textSearch: 'arabika' }, ['arabica']],
    ['a word of the provider', { textSearch: 'coffee' }, ['arabica']],
    ['a word of an offer', { textSearch: 'wholesale' }, ['assam']],
    ['no word of an offer that was published elsewhere', { textSearch: 'midnight' }, []],
    ['no word at all', { textSearch: '!?' }, []],
    ['a filter on resources', filter('$.catalogs[*].resources[?@.price == 9]'), ['sencha', 'arabica']],
    ['a filter in the form of PostgreSQL', filter('$.catalogs[*].resources[*] ? (@.price < 6)'), ['assam']],
    ['a filter on offers', filter('$.catalogs[*].offers[?@.id == "bulk"]'), ['assam']],
    ['no filter on offers published elsewhere', filter('$.catalogs[*].offers[?@.id == "night"]'), []],
    ['a filter on the provider', filter('$.catalogs[?@.provider.id == "p-coffee"]'), ['arabica']],
    ['a radius, the nearest first', radius([10.02, 50], 5_000), ['arabica', 'assam', 'sencha']],
    ['a small radius', radius([10.02, 50], 1_000), ['arabica']],
    ['a radius in which none lies', radius([10.02, 50], 1_000, { quantifier: 'NONE' }), ['assam', 'sencha']],
    [
      'a target in brackets',
      radius([10, 50], 10, { targets: "$['catalogs'][*]['provider']['availableAt'][*]['geo']" }),
      ['assam', 'sencha'],
    ],
    [
      'a target that nothing stands under',
      radius([10, 50], 10, { targets: '$.catalogs[*].resources[*].geo', quantifier: 'NONE' }),
      [],
    ],
    [
      'all of it together',
      { ...filter('$.catalogs[*].resources[?@.price == 9]'), ...radius([10, 50], 10), textSearch: 'japan' },
      ['sencha'],
    ],
  ])('finds by %s', (_, intent, ids) => {
    expect(idsBy({ intent })).toEqual(ids);
  });

  it('looks at no templates, at nothing inactive, outdated or withdrawn', () => {
    const question = { intent: { textSearch: 'arabica' } };
    const changed = (change: Partial<KnownCatalog>) => idsBy(question, [{ ...coffee, ...change }]);
    expect(changed({})).toEqual(['arabica']);
    expect(changed({ type: 'MASTER' })).toEqual([]);
    expect(changed({ served: false })).toEqual([]);
    expect(changed({ catalog: { ...coffee.catalog, isActive: false } })).toEqual([]);
    expect(changed({ catalog: { ...coffee.catalog, validity: { endDate: '2026-05-31' } } })).toEqual([]);
  });

  it('narrows to a network and to schemas where they are named', () => {
    const intent = { textSearch: 'tea coffee' };
    const two = [tea, { ...coffee, networkIds: ['net.example/two'] }];
    expect(idsBy({ intent, networkId: 'net.example/two' }, two)).toEqual(['arabica']);
    expect(idsBy({ intent, schemaContext: ['urn:unknown'] }, two)).toEqual([]);
  });

  it('attaches offers of the same owner only, and only in a shared network', () => {
    const intent = { textSearch: 'sencha' };
    const attached = (others: KnownCatalog) =>
      find({ intent, now }, [tea, others]).flatMap(({ offers }) => offers.map(({ id }) => id));
    expect(attached(teaOffers)).toEqual(['night']);
    expect(attached({ ...teaOffers, owner: 'x.example/reg' })).toEqual([]);
    expect(attached({ ...teaOffers, networkIds: ['net.example/two'] })).toEqual([]);
  });

  it('answers with resources in their catalogs and the offers that apply to them', () => {
    const question = { intent: { textSearch: 'sencha' }, now };
    const { catalogs, pagination } = answerByTheBook(find(question), question);
    expect(catalogs).toEqual([
      { ...tea.catalog, resources: [tea.catalog.resources?.[1]], offers: teaOffers.catalog.offers },
    ]);
    expect(pagination).toBeUndefined();
  });

  it('pages by resources', () => {
    const question = { intent: filter('$'), now, limit: 1, offset: 1 };
    const { catalogs, pagination } = answerByTheBook(find(question), question);
    expect(catalogs.flatMap(({ resources = [] }) => resources.map(({ id }) => id))).toEqual(['sencha']);
    expect(pagination).toEqual({ total: 3, limit: 1, offset: 1 });
  });
});

function find(question: Question, catalogs: KnownCatalog[] = index) {
  return findByTheBook(catalogs, question, { measure });
}

function idsBy(question: Omit<Question, 'now'>, catalogs?: KnownCatalog[]): string[] {
  return find({ ...question, now }, catalogs).map(({ resource }) => resource.id);
}

function catalog(
  name: string,
  owner: string,
  {
    resources,
    offers,
    at,
  }: { resources?: (Resource & { price: number })[]; offers?: Offer[]; at: [number, number] },
): KnownCatalog {
  const family = name.replace('-offers', '');
  return {
    owner,
    networkIds: ['net.example/one'],
    type: 'REGULAR',
    catalog: {
      id: name,
      descriptor: { name: 'List' },
      provider: {
        id: `p-${family}`,
        descriptor: { name: `House of ${family}` },
        availableAt: [{ geo: { type: 'Point', coordinates: at } }],
      },
      ...(resources && { resources }),
      ...(offers && { offers }),
    },
  };
}

function filter(expression: string) {
  return { filters: { type: 'jsonpath' as const, expression } };
}

function radius(coordinates: number[], distanceMeters: number, more: object = {}) {
  const geometry: Geometry = { type: 'Point', coordinates };
  return { spatial: [{ op: 'S_DWITHIN', targets: providerGeo, geometry, distanceMeters, ...more }] };
}

/** Accurate enough for nearby points. */
function measure({ geometry, distanceMeters = 0 }: SpatialConstraint) {
  return (stored: Geometry) => {
    const [[x = 0, y = 0], [u = 0, v = 0]] = [positionOf(stored), positionOf(geometry)];
    const distance = Math.hypot((x - u) * Math.cos((y * Math.PI) / 180), y - v) * 111_195;
    return { holds: distance <= distanceMeters, distance };
  };
}

function positionOf(geometry: Geometry): number[] {
  return geometry.type === 'Point' ? geometry.coordinates : [];
}
