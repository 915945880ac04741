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
import type { Geometry } from '../../protocol/geojson.ts';
import { distanceBetween, metersBetweenPoints } from './distance.ts';
import { earthRadiusMeters } from './sphere.ts';
import { sphereBox } from './sphere-box.ts';

const degree = (earthRadiusMeters * Math.PI) / 180;

describe('the distance between two geometries', () => {
  it.each([
    ['POINT(0 0)', 'POINT(0 1)', degree],
    ['POINT(0 0)', 'POINT(90 0)', 90 * degree],
    ['POINT(0 0)', 'POINT(180 0)', 180 * degree],
    ['POINT(10 0)', 'POINT(-170 0)', 180 * degree],
    ['POINT(0 60)', 'POINT(180 60)', 60 * degree],
    ['POINT(77.5946 12.9716)', 'POINT(77.5946 12.9716)', 0],
    // Bengaluru to Delhi, London to New York, by the haversine formula
    ['POINT(77.5946 12.9716)', 'POINT(77.2090 28.6139)', 1_739_804.505],
    ['POINT(-0.1278 51.5074)', 'POINT(-74.0060 40.7128)', 5_570_229.874],
    // One metre, one millimetre
    ['POINT(0 0)', 'POINT(0.00000899320364 0)', 1.0],
    ['POINT(77 45)', 'POINT(77 45.00000000899320364)', 0.001],
  ])('from %s to %s is %d metres', (first, second, meters) => {
    expectMeters(distanceBetween(wkt(first), wkt(second)), meters);
    expectMeters(distanceBetween(wkt(second), wkt(first)), meters);
  });

  it('follows from the boxes of two points, to the last digit', () => {
    const place = fc.tuple(
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.double({ min: -90, max: 90, noNaN: true }),
    );
    fc.assert(
      fc.property(place, place, (a, b) => {
        const first: Geometry = { type: 'Point', coordinates: a };
        const second: Geometry = { type: 'Point', coordinates: b };
        const [{ low: here }, { low: there }] = [sphereBox(first), sphereBox(second)];
        expect(metersBetweenPoints(here, there)).toBe(distanceBetween(first, second));
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    ['beside a line', 'POINT(5 1)', 'LINESTRING(0 0,10 0)', degree],
    ['beyond its end', 'POINT(12 0)', 'LINESTRING(0 0,10 0)', 2 * degree],
    ['on it', 'POINT(5 0)', 'LINESTRING(0 0,10 0)', 0],
    ['on one that runs north', 'POINT(77 15)', 'LINESTRING(77 10,77 20)', 0],
    ['opposite a line', 'POINT(-175 0)', 'LINESTRING(0 0,10 0)', 175 * degree],
    ['between lines that cross', 'LINESTRING(0 -1,0 1)', 'LINESTRING(-1 0,1 0)', 0],
    ['between lines that touch', 'LINESTRING(0 0,0 1)', 'LINESTRING(-1 0,1 0)', 0],
    ['between parallel lines', 'LINESTRING(0 2,1 2)', 'LINESTRING(0 0,1 0)', 2 * degree],
    ['inside a polygon', 'POINT(1 1)', 'POLYGON((0 0,4 0,4 4,0 4,0 0))', 0],
    ['outside a polygon', 'POINT(6 0)', 'POLYGON((0 -4,4 -4,4 4,0 4,0 -4))', 2 * degree],
    ['on the edge of a polygon', 'POINT(4 1)', 'POLYGON((0 -4,4 -4,4 4,0 4,0 -4))', 0],
    [
      'in a hole',
      'POINT(0 0)',
      'POLYGON((-9 -9,9 -9,9 9,-9 9,-9 -9),(-3 -1,3 -1,3 1,-3 1,-3 -1))',
      'about a degree',
    ],
    [
      'in a hole, but on an island',
      'POINT(0 0)',
      'MULTIPOLYGON(((-9 -9,9 -9,9 9,-9 9,-9 -9),(-3 -3,3 -3,3 3,-3 3,-3 -3)),((-1 -1,1 -1,1 1,-1 1,-1 -1)))',
      0,
    ],
    ['of a line in a polygon', 'LINESTRING(1 1,2 2)', 'POLYGON((0 0,4 0,4 4,0 4,0 0))', 0],
    ['of a polygon in a polygon', 'POLYGON((1 1,2 1,2 2,1 1))', 'POLYGON((0 0,4 0,4 4,0 4,0 0))', 0],
    [
      'of polygons that overlap like a cross',
      'POLYGON((-4 -1,4 -1,4 1,-4 1,-4 -1))',
      'POLYGON((-1 -4,1 -4,1 4,-1 4,-1 -4))',
      0,
    ],
    [
      'to the nearest of several',
      'MULTIPOINT(50 50,3 0)',
      'GEOMETRYCOLLECTION(POINT(0 0),LINESTRING(-20 0,-10 0))',
      3 * degree,
    ],
    ['across the date line', 'POINT(179 0)', 'POINT(-179 0)', 2 * degree],
    ['of one meridian with two names', 'POINT(180 10)', 'POINT(-180 10)', 0],
    ['to a line across the date line', 'POINT(180 1)', 'LINESTRING(170 0,-170 0)', degree],
    [
      'into a polygon across the date line',
      'POINT(-179 1)',
      'POLYGON((170 -9,-170 -9,-170 9,170 9,170 -9))',
      0,
    ],
    ['across a pole', 'POINT(0 89)', 'POINT(180 89)', 2 * degree],
    ['of one pole with two names', 'POINT(0 90)', 'POINT(77 90)', 0],
    ['into a polygon round a pole', 'POINT(12 88)', 'POLYGON((0 70,120 70,-120 70,0 70))', 0],
    ['to the pole in it', 'POINT(12 90)', 'POLYGON((0 70,120 70,-120 70,0 70))', 0],
    ['from the other pole to it', 'POINT(0 -90)', 'POLYGON((0 70,120 70,-120 70,0 70))', 160 * degree],
    ['from pole to pole', 'POINT(10 90)', 'POINT(50 -90)', 180 * degree],
    ['to a line from pole to pole', 'POINT(13 0)', 'LINESTRING(10 90,10 -90)', 3 * degree],
    ['to a line over the pole', 'POINT(90 88)', 'LINESTRING(0 80,180 80)', 2 * degree],
    ['in the whole world', 'POINT(77 12)', 'POLYGON((-180 -90,180 -90,180 90,-180 90,-180 -90))', 0],
    ['from the equator, once round', 'POINT(-77 3)', 'LINESTRING(-180 0,180 0)', 3 * degree],
  ])('%s: %s, %s', (_, first, second, meters) => {
    const [there, back] = [
      distanceBetween(wkt(first), wkt(second)),
      distanceBetween(wkt(second), wkt(first)),
    ];
    expect(back).toBeCloseTo(there, 6);
    if (typeof meters === 'number') expectMeters(there, meters);
    else expect(Math.abs(there / degree - 1)).toBeLessThan(0.01);
  });

  it('follows great circles: the way from London to Tokyo leads over the north of Siberia', () => {
    const flight = wkt('LINESTRING(-0.1278 51.5074,139.6917 35.6895)');
    expect(distanceBetween(wkt('POINT(89.6658 69.0133)'), flight)).toBeLessThan(10);
    expect(distanceBetween(wkt('POINT(69.8 43.6)'), flight)).toBeGreaterThan(2_000_000);
  });

  it('is never longer than to any place that is sampled, and to one of these not longer either', () => {
    const line = fc.tuple(place, place).filter(([a, b]) => Math.abs(a[0] - b[0]) < 170);
    fc.assert(
      fc.property(line, place, ([a, b], p) => {
        const measured = distanceBetween(point(p), { type: 'LineString', coordinates: [a, b] });
        const samples = greatCircle(a, b).map((sample) => distanceBetween(point(p), point(sample)));
        const nearest = Math.min(...samples);
        expect(measured).toBeLessThanOrEqual(nearest + 1e-3);
        // The samples are so close that the nearest is at most half a step away.
        expect(measured).toBeGreaterThanOrEqual(nearest - distanceBetween(point(a), point(b)) / 2000 - 1e-3);
      }),
      { numRuns: runs(100) },
    );
  });

  const lattices = fc.constantFrom<Lattice>(
    { west: 10, south: 40, step: 0.25, size: 8 },
    { west: -4, south: 84, step: 0.75, size: 8 },
    { west: 60, south: -90, step: 2, size: 8 },
  );
  const pair = lattices.chain((lattice) => fc.tuple(arbitraryGeometry(lattice), arbitraryGeometry(lattice)));

  it('is the same both ways, and wherever on the globe', () => {
    fc.assert(
      fc.property(pair, fc.integer({ min: -170, max: 100 }), ([stored, query], degrees) => {
        const meters = distanceBetween(stored, query);
        expect(distanceBetween(query, stored)).toBeCloseTo(meters, 6);
        expect(distanceBetween(movedEast(stored, degrees), movedEast(query, degrees))).toBeCloseTo(meters, 6);
      }),
      { numRuns: runs(150) },
    );
  });

  it('is not 0 between lines that lie apart on one meridian, wherever that is', () => {
    for (let lon = -180; lon < 180; lon += 0.5) {
      const [south, north] = [
        wkt(`LINESTRING(${lon} 40.25,${lon} 41)`),
        wkt(`LINESTRING(${lon} 41.25,${lon} 41.75)`),
      ];
      expect(distanceBetween(south, north)).toBeCloseTo(27_798.77, 1);
    }
  });

  it('is 0 between lines that cross, however short they are', () => {
    const arms = fc
      .tuple(
        fc.integer({ min: -6, max: 1 }),
        fc.array(fc.double({ min: 0.2, max: 0.8, noNaN: true }), { minLength: 4, maxLength: 4 }),
      )
      .map(([scale, lengths]) => lengths.map((length) => length * 10 ** scale));
    fc.assert(
      fc.property(place, arms, ([x, y], [west = 0, east = 0, south = 0, north = 0]) => {
        fc.pre(y - south > -90 && y + north < 90);
        const along = wkt(`LINESTRING(${x - west} ${y},${x + east} ${y})`);
        const across = wkt(`LINESTRING(${x} ${y - south},${x} ${y + north})`);
        expect(distanceBetween(along, across)).toBe(0);
      }),
    );
  });

  it('is 0 between a geometry and itself, and to a part of it', () => {
    fc.assert(
      fc.property(pair, ([stored, query]) => {
        const both: Geometry = { type: 'GeometryCollection', geometries: [stored, query] };
        expect(distanceBetween(stored, stored)).toBe(0);
        expect(distanceBetween(stored, both)).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });

  it('decides S_DWITHIN, which holds for every longer distance, too', () => {
    fc.assert(
      fc.property(pair, fc.double({ min: 0, max: 3e5, noNaN: true }), ([stored, query], limit) => {
        const meters = distanceBetween(stored, query);
        expect(predicate('S_DWITHIN', stored, query, limit)).toBe(meters <= limit);
        expect(predicate('S_DWITHIN', stored, query, meters)).toBe(true);
        expect(predicate('S_DWITHIN', stored, query, meters * 1.5)).toBe(true);
        if (meters > 0) expect(predicate('S_DWITHIN', stored, query, meters * 0.999)).toBe(false);
      }),
      { numRuns: runs(150) },
    );
  });
});

const place = fc.tuple(fc.integer({ min: -80, max: 80 }), fc.integer({ min: -90, max: 90 }));

function point(coordinates: number[]): Geometry {
  return { type: 'Point', coordinates };
}

/** Places along a great circle, by rotating one end towards the other. */
function greatCircle(a: number[], b: number[]): number[][] {
  const [from, to] = [a, b].map(([longitude = 0, latitude = 0]) => {
    const [x, y] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
    return [Math.cos(y) * Math.cos(x), Math.cos(y) * Math.sin(x), Math.sin(y)];
  }) as [number[], number[]];
  const angle = Math.acos(
    Math.max(
      -1,
      Math.min(
        1,
        from.reduce((sum, value, axis) => sum + value * (to[axis] ?? 0), 0),
      ),
    ),
  );
  return Array.from({ length: 1001 }, (_, index) => {
    const [near, far] = [Math.sin(angle * (1 - index / 1000)), Math.sin((angle * index) / 1000)];
    const [x = 0, y = 0, z = 0] =
      angle === 0 ? from : from.map((value, axis) => value * near + (to[axis] ?? 0) * far);
    return [(Math.atan2(y, x) * 180) / Math.PI, (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI];
  });
}

function expectMeters(measured: number, meters: number): void {
  expect(Math.abs(measured - meters)).toBeLessThan(Math.max(1e-8, meters * 1e-7));
}
