import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../tests/support/reproducible.ts';
import {
  arbitraryGeometry,
  type Lattice,
  movedEast,
} from '../../../tests/support/values/arbitrary-geometry.ts';
import { predicate } from '../../../tests/support/values/predicate.ts';
import { wkt } from '../../../tests/support/values/wkt.ts';
import { type SpatialOperator, spatialOperators } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { earthRadiusMeters, toVector } from './sphere.ts';
import { queryBoxAround, type SphereBox, sphereBox } from './sphere-box.ts';

// In a town, over a continent, at a pole, over a pole, and where longitudes are narrow.
const lattices = fc.constantFrom<Lattice>(
  { west: 77.5, south: 12.9, step: 2 ** -7, size: 8 },
  { west: -60, south: -40, step: 10, size: 8 },
  { west: 0, south: 82, step: 1, size: 8 },
  { west: -72, south: 58, step: 4, size: 8 },
  { west: -160, south: -90, step: 20, size: 8 },
);
const moves = fc.oneof(fc.constantFrom(0, 101, 179, 180), fc.integer({ min: -180, max: 180 }));
const pairs = fc.tuple(lattices, moves).chain(([lattice, degrees]) => {
  const geometry = arbitraryGeometry(lattice).map((each) => movedEast(each, degrees));
  return fc.tuple(geometry, geometry);
});

const queryBox = (operator: SpatialOperator, query: Geometry, meters?: number) =>
  queryBoxAround(operator, sphereBox(query), meters);

describe('boxes on the sphere', () => {
  it.each(spatialOperators)('lose no match of %s', (operator) => {
    const distances = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5e6, noNaN: true }));
    fc.assert(
      fc.property(pairs, distances, ([stored, query], distance) => {
        const box = queryBox(operator, query, distance);
        if (box && predicate(operator, stored, query, distance))
          expect(touches(sphereBox(stored), box)).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });

  it('contain every edge, straight in longitude and latitude and by great circle', () => {
    const place = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }));
    const width = fc.double({ min: -179.9, max: 179.9, noNaN: true });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        place,
        width,
        fc.integer({ min: -90, max: 90 }),
        share,
        ([west, south], wide, north, along) => {
          const line: Geometry = {
            type: 'LineString',
            coordinates: [
              [west, south],
              [west + wide, north],
            ],
          };
          const box = sphereBox(movedEast(line, 0));
          expect(contains(box, toVector(west + along * wide, south + along * (north - south)))).toBe(true);
          const [a, b] = [toVector(west, south), toVector(west + wide, north)];
          const onChord = a.map((value, axis) => value + along * ((b[axis] ?? 0) - value));
          const length = Math.hypot(...onChord);
          if (length > 1e-3)
            expect(
              contains(
                box,
                onChord.map((value) => value / length),
              ),
            ).toBe(true);
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  it('contain what is inside a polygon, also a pole', () => {
    const inside = (text: string, longitude: number, latitude: number) =>
      contains(sphereBox(wkt(text)), toVector(longitude, latitude));
    expect(inside('POLYGON((0 70,120 70,-120 70,0 70))', 0, 90)).toBe(true);
    expect(inside('POLYGON((0 70,120 70,-120 70,0 70))', 0, 65)).toBe(false);
    expect(inside('POLYGON((-180 -90,-180 -70,0 -70,180 -70,180 -90,-180 -90))', 0, -90)).toBe(true);
    expect(inside('POLYGON((-60 -30,60 -30,60 30,-60 30,-60 -30))', 0, 0)).toBe(true);
    expect(inside('POLYGON((170 -10,-170 -10,-170 10,170 10,170 -10))', 180, 0)).toBe(true);
    expect(inside('POLYGON((170 -10,-170 -10,-170 10,170 10,170 -10))', 0, 0)).toBe(false);
    // The great circle between two places at 50° north bulges beyond 60°.
    expect(inside('LINESTRING(-60 50,60 50)', 0, 67)).toBe(true);
    expect(inside('LINESTRING(-60 50,60 50)', 0, 50)).toBe(true);
  });

  it('are small for small geometries', () => {
    const { low, high } = sphereBox(wkt('POINT(77.5946 12.9716)'));
    for (const axis of [0, 1, 2] as const)
      expect((high[axis] - low[axis]) * earthRadiusMeters).toBeLessThan(0.001);
    const around = queryBox('S_DWITHIN', wkt('POINT(77.5946 12.9716)'), 5000);
    expect(((around?.high[2] ?? 0) - (around?.low[2] ?? 0)) * earthRadiusMeters).toBeLessThan(10_001);
  });

  it('do not bound what is disjoint, nor distances round the world', () => {
    const point = wkt('POINT(77 12)');
    expect(queryBox('S_DISJOINT', point)).toBeUndefined();
    expect(queryBox('S_DWITHIN', point, 20_100_000)).toBeUndefined();
    expect(queryBox('S_DWITHIN', point, Number.MAX_VALUE)).toBeUndefined();
    expect(queryBox('S_DWITHIN', wkt('LINESTRING(-90 0,90 0)'), 12_000_000)).toBeUndefined();
    expect(queryBox('S_DWITHIN', point, 5000)).toBeDefined();
    expect(queryBox('S_INTERSECTS', point, 20_100_000)).toEqual(queryBox('S_INTERSECTS', point));
  });

  it('are the same on both sides of the date line', () => {
    expect(sphereBox(wkt('POINT(180 10)'))).toEqual(sphereBox(wkt('POINT(-180 10)')));
    expect(touches(sphereBox(wkt('POINT(33 90)')), sphereBox(wkt('POINT(-99 90)')))).toBe(true);
  });
});

function touches({ low: a, high: b }: SphereBox, { low: c, high: d }: SphereBox): boolean {
  return a.every((value, axis) => value <= (d[axis] ?? 0) && (c[axis] ?? 0) <= (b[axis] ?? 0));
}

function contains({ low, high }: SphereBox, vector: readonly number[]): boolean {
  return vector.every((value, axis) => value >= (low[axis] ?? 0) && value <= (high[axis] ?? 0));
}
