import fc from 'fast-check';
import type { Catalog, Offer, Provider, Resource, TimePeriod } from '../../../src/protocol/catalog.ts';
import type { Intent } from '../../../src/protocol/discover-messages.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import type { KnownCatalog, Question } from '../search/discover-oracle.ts';
import {
  arbitraryFilter,
  arbitraryLocalFilter,
  arbitraryMembers,
  arbitraryOfferFilter,
} from './arbitrary-filter.ts';

// Small indexes and intents over few names, words, networks and places, so that coincidences of all kinds occur.

/** The moment of all questions. */
export const arbitraryNow = new Date('2026-06-01T12:00:00Z');

const owners = ['one.example/reg', 'two.example/reg'];
const networks = ['net/a', 'net/b'];
const contexts = ['https://schema.example/A', 'https://schema.example/B'];
export const arbitraryWords = [
  ...['tea', 'teas', 'green', 'greens', 'coffee'],
  ...['cofee', 'black', 'charger', '茶', 'the'],
  // Forms of words: prefixes, joined and split, inflected, with two letters swapped, in another script.
  ...['charg', 'charging', 'blacktea', 'geren', 'चाय', 'chai', 'batteries', 'battery'],
];
const word = fc.constantFrom(...arbitraryWords);
const text = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));

const position = fc.tuple(
  fc.constantFrom(-180, -179.9, 0, 10, 10.01, 10.5, 179.95, 180),
  fc.constantFrom(-90, -0.01, 0, 0.4, 50, 90),
);
const box = fc
  .tuple(fc.constantFrom(-180, 9, 10, 175), fc.constantFrom(-10, 0, 45), fc.constantFrom(0.5, 2, 5))
  .map(([west, south, size]) => [
    [west, south],
    [west + size, south],
    [west + size, south + size],
    [west, south + size],
    [west, south],
  ]);
const geometry: fc.Arbitrary<Geometry> = fc.oneof(
  { weight: 4, arbitrary: position.map((coordinates) => ({ type: 'Point', coordinates }) as Geometry) },
  fc.tuple(position, position).map((coordinates) => ({ type: 'LineString', coordinates }) as Geometry),
  box.map((ring) => ({ type: 'Polygon', coordinates: [ring] }) as Geometry),
  fc
    .array(position, { minLength: 1, maxLength: 3 })
    .map((coordinates) => ({ type: 'MultiPoint', coordinates }) as Geometry),
);

const validity: fc.Arbitrary<TimePeriod> = fc.constantFrom(
  { endDate: '2026-05-31' },
  { startDate: '2026-06-01' },
  { startDate: '2026-06-01', endDate: '2026-06-01' },
  { startTime: '11:00', endTime: '12:00' },
  { startTime: '22:00', endTime: '06:00' },
);
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, arbitrary);
const often = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 3, arbitrary }, fc.constant(undefined));
const descriptor = fc.record({ name: text, shortDesc: rarely(text) }).map(defined);

const provider: fc.Arbitrary<Provider> = fc
  .record({
    id: fc.constantFrom('p1', 'p2'),
    descriptor: fc.record({ name: text }),
    availableAt: often(fc.array(fc.record({ geo: geometry }), { maxLength: 3 })),
  })
  .map(defined);

const resourceIds = ['r1', 'r2', 'r3', 'r4'];
const resource: fc.Arbitrary<Resource> = fc
  .record({
    id: fc.constantFrom(...resourceIds),
    members: arbitraryMembers,
    descriptor: often(descriptor),
    geo: often(geometry),
    context: rarely(fc.constantFrom(...contexts)),
  })
  .map(({ id, members, descriptor: described, geo, context }) => ({
    ...members,
    id,
    ...(described && { descriptor: described }),
    ...(geo && { places: [{ geo }] }),
    ...(context && { resourceAttributes: { '@context': context, '@type': 'T' } }),
  }));

const offer: fc.Arbitrary<Offer> = fc
  .record({
    id: fc.constantFrom('o1', 'o2', 'o3'),
    members: arbitraryMembers,
    descriptor: often(descriptor),
    resourceIds: rarely(fc.subarray(resourceIds)),
    provider: rarely(fc.record({ id: fc.constantFrom('p1', 'p2') })),
    validity: rarely(validity),
    geo: often(geometry),
  })
  .map(({ members, geo, ...rest }) => ({ ...members, ...defined(rest), ...(geo && { geo }) }) as Offer);

const catalog: fc.Arbitrary<Omit<Catalog, 'id'>> = fc
  .record({
    descriptor,
    provider,
    resources: fc.uniqueArray(resource, { selector: ({ id }) => id, maxLength: 4 }),
    offers: fc.uniqueArray(offer, { selector: ({ id }) => id, maxLength: 2 }),
    isActive: rarely(fc.boolean()),
    validity: rarely(validity),
  })
  .map(defined) as fc.Arbitrary<Omit<Catalog, 'id'>>;

export const arbitraryIndex: fc.Arbitrary<KnownCatalog[]> = fc
  .array(
    fc.record({
      owner: fc.constantFrom(...owners),
      networkIds: fc.subarray(networks),
      type: fc.constantFrom('REGULAR' as const, 'REGULAR' as const, 'REGULAR' as const, 'MASTER' as const),
      catalog,
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((known) =>
    known.map((each, index) => ({ ...each, catalog: { ...each.catalog, id: `c${index}` } as Catalog })),
  );

/** The same twelve catalogs every time. */
export function sampleIndex(): KnownCatalog[] {
  const [largest = []] = fc
    .sample(arbitraryIndex, { seed: 20_261_116, numRuns: 20 })
    .sort((a, b) => b.length - a.length);
  return largest;
}

const target = fc.constantFrom(
  '$.catalogs[*].provider.availableAt[*].geo',
  "$['catalogs'][*].resources[*].places[*]['geo']",
  '$.catalogs[*].offers[*].geo',
  '$.catalogs[*].geo',
);
const operators = [
  'S_INTERSECTS',
  'S_DISJOINT',
  'S_WITHIN',
  'S_CONTAINS',
  'S_OVERLAPS',
  'S_CROSSES',
  'S_TOUCHES',
  'S_EQUALS',
];
const constraint = fc
  .record({
    op: fc.oneof(fc.constantFrom(...operators), fc.constant('S_DWITHIN')),
    targets: fc.oneof(target, fc.uniqueArray(target, { minLength: 1, maxLength: 2 })),
    geometry,
    quantifier: rarely(fc.constantFrom('ANY', 'ALL', 'NONE')),
    distanceMeters: fc.constantFrom(0, 1_000, 60_000, 6_000_000, 30_000_000),
  })
  .map(defined) as fc.Arbitrary<NonNullable<Intent['spatial']>[number]>;

const expression = fc.oneof(
  { weight: 2, arbitrary: arbitraryLocalFilter },
  arbitraryOfferFilter,
  arbitraryFilter,
);

const filters = expression.map((each) => ({ type: 'jsonpath' as const, expression: each }));
const spatial = fc.array(constraint, { minLength: 1, maxLength: 2 });
/** Mostly one part only: combinations seldom find anything. */
const intent: fc.Arbitrary<Intent> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ textSearch: text }) },
  { weight: 3, arbitrary: fc.record({ filters }) },
  { weight: 3, arbitrary: fc.record({ spatial }) },
  fc.record({ textSearch: text, filters }),
  fc.record({ textSearch: text, spatial }),
  fc.record({ filters, spatial }),
  fc.record({ textSearch: text, filters, spatial }),
);

export const arbitraryQuestion: fc.Arbitrary<Question> = fc
  .record({
    intent,
    networkId: rarely(fc.constantFrom(...networks)),
    schemaContext: rarely(fc.subarray(contexts)),
    limit: rarely(fc.integer({ min: 1, max: 5 })),
    offset: rarely(fc.integer({ min: 0, max: 2 })),
  })
  .map((question) => ({ ...defined(question), now: arbitraryNow }));

/** As JSON would have it: a filter sees undefined members. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
