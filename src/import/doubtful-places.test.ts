import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { angleBetween, earthRadiusMeters, toVector } from '../rules/geometry/sphere.ts';
import { countryBoxes, findCountry, isWithin, type Point } from './countries.ts';
import { findDoubtfulPlaces, type StatedPlace } from './doubtful-places.ts';

/** A place on earth, and some around it, up to about 100 km away in each direction. */
const list = fc
  .record({
    latitude: fc.double({ min: -60, max: 60, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    steps: fc.array(fc.tuple(step(), step()), { minLength: 5, maxLength: 40 }),
  })
  .map(({ latitude, longitude, steps }) =>
    steps.map(([north, east]) => ({
      latitude: latitude + north,
      longitude: aroundTheWorld(longitude + east),
    })),
  )
  .filter((places) => places.every(({ latitude, longitude }) => latitude !== 0 || longitude !== 0));

function step() {
  return fc.double({ min: -0.9, max: 0.9, noNaN: true });
}

function aroundTheWorld(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
}

const anywhere = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

function kilometersBetween(one: Point, other: Point): number {
  const [here, there] = [one, other].map(({ latitude, longitude }) => toVector(longitude, latitude));
  return here && there ? (angleBetween(here, there) * earthRadiusMeters) / 1_000 : 0;
}

function insertAt<T>(items: readonly T[], index: number, item: T): T[] {
  return [...items.slice(0, index), item, ...items.slice(index)];
}

describe('places of a list', () => {
  it('are not doubted where they lie together, wherever on earth that is', () => {
    fc.assert(
      fc.property(list, (places) => {
        expect(findDoubtfulPlaces(places)).toEqual([]);
      }),
    );
  });

  it('are doubted where one lies far from all others, and only that one', () => {
    fc.assert(
      fc.property(list, anywhere, fc.nat(5), (places, stray, index) => {
        fc.pre(places.every((place) => kilometersBetween(place, stray) > 1_200));
        const doubts = findDoubtfulPlaces(insertAt(places, index, stray));
        expect(doubts.map(({ place }) => place)).toEqual([stray]);
      }),
    );
  });

  it('are called swapped where the other way round they lie among the others', () => {
    fc.assert(
      fc.property(list, fc.nat(4), (places, index) => {
        const { latitude, longitude } = places[index] as Point;
        const stray = { latitude: longitude, longitude: latitude };
        fc.pre(Math.abs(longitude) <= 90);
        fc.pre(places.every((place) => kilometersBetween(place, stray) > 1_200));
        expect(findDoubtfulPlaces([...places, stray])).toMatchObject([
          { place: stray, why: expect.stringContaining('swapped') },
        ]);
      }),
    );
  });

  it('are judged the same in any order', () => {
    const order = (doubts: { place: StatedPlace; why: string }[]) =>
      doubts.map((doubt) => JSON.stringify(doubt)).sort();
    const some = fc.array(anywhere, { maxLength: 30 });
    fc.assert(
      fc.property(list, some, (places, strays) => {
        const all = [...places, ...strays];
        expect(order(findDoubtfulPlaces(all.toReversed()))).toEqual(order(findDoubtfulPlaces(all)));
      }),
    );
  });

  it('are not doubted where several lie together in a second region', () => {
    const city = (latitude: number, longitude: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ latitude: latitude + index / 100, longitude }));
    expect(findDoubtfulPlaces([...city(12.9, 77.6, 20), ...city(28.6, 77.2, 4)])).toEqual([]);
    expect(findDoubtfulPlaces([...city(12.9, 77.6, 20), ...city(28.6, 77.2, 1)])).toHaveLength(1);
  });

  it('are not judged by each other where there are only two', () => {
    const two = [
      { latitude: 12.9, longitude: 77.6 },
      { latitude: -33.8, longitude: 151.2 },
    ];
    expect(findDoubtfulPlaces(two)).toEqual([]);
  });

  it('of a country whose borders are not known are judged by the others of that country', () => {
    const inMongolia = [47.9, 47.8, 47.7, 50.1].map((latitude) => ({
      latitude,
      longitude: 106.9,
      country: 'MN',
    }));
    const inFrance = [48.8, 45.7, 43.3].map((latitude) => ({ latitude, longitude: 4.8, country: 'FR' }));
    const stray = { latitude: 48.5, longitude: 2.3, country: 'MN' };
    expect(findDoubtfulPlaces([...inMongolia, ...inFrance, stray])).toEqual([
      { place: stray, why: 'is far from all others' },
    ]);
  });
});

describe('a country', () => {
  const withinBox = fc.constantFrom(...countryBoxes).chain(([code, alpha3, ...boxes]) =>
    fc.constantFrom(...boxes).chain(([south, west, north, east]) =>
      fc.record({
        latitude: fc.double({ min: south, max: north, noNaN: true }),
        longitude: fc.double({ min: west, max: east, noNaN: true }),
        country: fc.constantFrom(code, code.toLowerCase(), alpha3, ` ${alpha3} `),
      }),
    ),
  );

  it('is doubted exactly where the place lies outside', () => {
    fc.assert(
      fc.property(withinBox, (place) => {
        expect(findDoubtfulPlaces([place])).toEqual([]);
      }),
    );
    fc.assert(
      fc.property(anywhere, fc.constantFrom(...countryBoxes), (point, [country]) => {
        const known = findCountry(country);
        fc.pre(known !== undefined && !isWithin(known, point));
        expect(findDoubtfulPlaces([{ ...point, country }])).toHaveLength(1);
      }),
    );
  });

  it('holds its capital, and not that of another continent', () => {
    const capitals: [country: string, latitude: number, longitude: number][] = [
      ['India', 28.61, 77.21],
      ['GBR', 51.51, -0.13],
      ['Germany', 52.52, 13.4],
      ['us', 38.9, -77.04],
      ['France', 48.86, 2.35],
      ['NLD', 52.37, 4.9],
      ['Brazil', -15.79, -47.88],
      ['AUS', -35.28, 149.13],
      ['Japan', 35.68, 139.69],
      ['KE', -1.29, 36.82],
      ['SGP', 1.35, 103.82],
      ['NZ', -41.29, 174.78],
      ['Turkey', 39.93, 32.86],
      ['UK', 54.6, -5.93],
    ];
    for (const [country, latitude, longitude] of capitals) {
      expect(findDoubtfulPlaces([{ latitude, longitude, country }]), country).toEqual([]);
      expect(
        findDoubtfulPlaces([{ latitude: -latitude, longitude: -longitude, country }]),
        country,
      ).toHaveLength(1);
    }
  });

  it('that nobody knows is not doubted', () => {
    expect(findDoubtfulPlaces([{ latitude: 1, longitude: 2, country: 'Atlantis' }])).toEqual([]);
  });
});
