import { expect, it } from 'vitest';
import { catalog, plain } from '../../tests/support/catalogs/sample-catalogs.ts';
import { measure } from '../../tests/support/search/by-the-book.ts';
import { findByTheBook } from '../../tests/support/search/discover-oracle.ts';
import { known, useWatchedSearch } from '../../tests/support/search/watched-search.ts';
import { arbitraryNow } from '../../tests/support/values/arbitrary-index.ts';
import type { Catalog } from '../protocol/catalog.ts';
import type { Intent } from '../protocol/discover-messages.ts';
import type { Geometry } from '../protocol/geojson.ts';

// Which part of an intent leads, and the order of hits, if there is more than one batch.

const search = useWatchedSearch();

const targets = '$.catalogs[*].resources[*].geo';
const pointAt = (longitude: number, latitude: number): Geometry => ({
  type: 'Point',
  coordinates: [longitude, latitude],
});
const around = (geometry: Geometry, distanceMeters: number): Intent => ({
  spatial: [{ op: 'S_DWITHIN', targets, geometry, distanceMeters }],
});
const filter = (expression: string): Intent => ({ filters: { type: 'jsonpath', expression } });

function byTheBook(catalogs: readonly Catalog[], intent: Intent): string[] {
  const question = { intent, now: arbitraryNow };
  const all = catalogs.map((each) => known(each));
  return findByTheBook(all, question, { measure }).map(({ resource }) => resource.id);
}

it('with words and a place without a distance, the best of all come first', async () => {
  const resources = Array.from({ length: 1_810 }, (_, index) => {
    const place = { geo: pointAt(10 + (index % 100) / 1_000, 50 + Math.floor(index / 100) / 1_000) };
    const isBest = index >= 1_500 && index < 1_510;
    // Words of a band: an inflected form in a name ranks higher than the word in an attribute.
    const words = isBest ? { descriptor: { name: 'Teas' } } : { descriptor: { name: 'goods' } };
    return { id: `r${index}`, ...words, ...(index < 1_500 && { note: 'tea' }), ...place };
  });
  const catalogs = [catalog('c', { resources })];
  await search.apply(catalogs);
  const spatial = [{ op: 'S_INTERSECTS' as const, targets, geometry: square(10, 50, 1) }];
  const intent = { textSearch: 'tea', spatial };
  const { ids } = await search.find(intent, 20);
  expect(ids).toEqual(byTheBook(catalogs, intent).slice(0, 20));
  expect(ids).toContain('r1500');
});

it('the rank is decided among ten thousand, those with the rarest words first', async () => {
  const count = 13_000;
  const resources = Array.from({ length: count }, (_, index) => ({
    ...{ id: `r${index}`, descriptor: { name: 'goods' } },
    note: index === count - 2 ? 'tea arabica' : 'tea',
  }));
  resources.push({ id: 'best', descriptor: { name: 'Tea' }, note: '' });
  await search.apply([catalog('c', { resources })]);
  expect((await search.find({ textSearch: 'tea' }, 2)).ids).toEqual(['r0', 'r1']);
  expect((await search.find({ textSearch: 'tea arabica' }, 2)).ids).toEqual([`r${count - 2}`, 'r0']);
});

it('equally far ones are in the order of keys, also beyond the first look around', async () => {
  // Areas around a place. Their boxes have no order, because all contain the place.
  const shift = (index: number, factor: number) => ((index * factor) % 1_000) / 1e6;
  const catalogs = Array.from({ length: 1_000 }, (_, index) => {
    const geo = square(10 + shift(index, 7_919), 50 + shift(index, 104_729), 0.01);
    const area = { ...plain(`r${index}`), geo };
    return catalog(`c${index}`, { resources: [area] });
  });
  await search.apply(catalogs);
  const { ids } = await search.find(around(pointAt(10.0005, 50.0005), 100));
  expect(ids).toEqual(catalogs.map((_, index) => `r${index}`));
});

it('points that are equally far are in the order of keys, also where they are more than a look around holds', async () => {
  // Here the distance is slightly shorter than the distance between the boxes.
  const catalogs = Array.from({ length: 700 }, (_, index) => {
    const resource = { ...plain(`r${index}`), geo: pointAt(10.01, 50.01) };
    return catalog(`c${index}`, { resources: [resource] });
  });
  await search.apply(catalogs.toReversed());
  const { ids } = await search.find(around(pointAt(10, 50), 5_000));
  expect(ids).toEqual(catalogs.map((_, index) => `r${699 - index}`));
});

it('a condition on a large catalog does not lead beside a radius, and the answer is the same', async () => {
  const resources = Array.from({ length: 2_500 }, (_, index) => ({
    ...{ id: `r${index}`, descriptor: { name: 'Charger' } },
    geo: pointAt((index % 50) / 10, Math.floor(index / 50) / 10),
  }));
  await search.apply([catalog('large', { resources }), catalog('other')]);
  const radius = around(pointAt(2, 2), 30_000);
  const alone = await search.find(radius);
  expect(alone.total).toBeGreaterThan(10);
  const beside = await search.find({ ...radius, ...filter('$.catalogs[?@.id == "large"]') });
  expect(beside).toEqual({ ...alone, lead: 'place' });
  const few = await search.find({ ...radius, ...filter('$.catalogs[?@.id == "other"]') });
  expect(few).toEqual({ ids: [], total: 0, lead: 'filter' });
});

it("a provider's word and place are found for all resources of a very large catalog", async () => {
  const provider = { id: 'p', descriptor: { name: 'Acme' }, availableAt: [{ geo: pointAt(10, 50) }] };
  const others = Array.from({ length: 50 }, (_, index) => catalog(`other${index}`));
  await search.apply([catalog('large', { provider }), ...others]);
  // Like a writer: none of these has words, facts or geometries.
  await search.database.query(
    `insert into discovery.resource (key, id, digest, document)
     select (catalog.key << 26) + number, 'r' || number, number, jsonb_build_object('id', 'r' || number)
     from discovery.catalog, generate_series(2, 200000) as number where id = 'large'`,
  );
  await search.database.query('analyze discovery.resource');
  const [radius] = around(pointAt(10, 50), 1_000).spatial ?? [];
  const spatial = [{ ...radius, targets: '$.catalogs[*].provider.availableAt[*].geo' }] as Intent['spatial'];
  const { ids, total } = await search.find({ textSearch: 'acme', spatial }, 2);
  expect(ids).toEqual(['large-1', 'r2']);
  expect(total).toBe(1_001);
  // One geometry, for 200,000 resources: the few resources with the words lead.
  const beside = await search.find({ textSearch: 'other1', spatial });
  expect(beside).toEqual({ ids: [], total: 0, lead: 'text' });
});

it('a misspelt word that shares neither end with what is meant is found, whatever stands beside it', async () => {
  const priced = { ...plain('r', 'tabled'), price: 1 };
  const catalogs = [catalog('c', { resources: [priced] })];
  await search.apply(catalogs);
  const intent = { textSearch: 'cables' };
  expect(byTheBook(catalogs, intent)).toEqual(['r']);
  expect((await search.find(intent)).ids).toEqual(['r']);
  const beside = { ...intent, ...filter('$.catalogs[*].resources[?@.price == 1]') };
  expect((await search.find(beside)).ids).toEqual(['r']);
});

function square(longitude: number, latitude: number, size: number): Geometry {
  const [west, east, south, north] = [longitude - size, longitude + size, latitude - size, latitude + size];
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: 'Polygon', coordinates: [corners as [number, number][]] };
}
