import { describe, expect, it } from 'vitest';
import { comb, star } from '../../../tests/support/values/costly-geometries.ts';
import { wkt } from '../../../tests/support/values/wkt.ts';
import type { Geometry, Position } from '../../protocol/geojson.ts';
import { countPairs, findExcess } from './complexity.ts';

const crosses = { code: 'SCH_SCHEMA_VALIDATION_FAILED', message: 'crosses itself more than 100 times' };
const ringsOf = (geometry: Geometry) => (geometry as { coordinates: Position[][] }).coordinates;

describe('a geometry is refused', () => {
  it('whose ring crosses itself more than 100 times, and not at 100', () => {
    // Each of n edges crosses n - 3 others: 90 pairs at 15, 119 at 17.
    expect(findExcess(star(15))).toBeUndefined();
    expect(findExcess(star(17))).toEqual({ ...crosses, at: ['coordinates', 0] });
    expect(findExcess(crossingItself(100))).toBeUndefined();
    expect(findExcess(crossingItself(101))).toEqual({ ...crosses, at: ['coordinates', 0] });
  });

  it('with the way to the ring, in parts and collections of any depth', () => {
    const [square, tangle] = [ringsOf(wkt('POLYGON((0 0,1 0,1 1,0 0))')), ringsOf(star(101))];
    const parts: Geometry = { type: 'MultiPolygon', coordinates: [square, [...square, ...tangle]] };
    const at = ['coordinates', 1, 1];
    expect(findExcess(parts)).toEqual({ ...crosses, at });
    const inner: Geometry = { type: 'GeometryCollection', geometries: [wkt('POINT(0 0)'), parts] };
    const outer: Geometry = { type: 'GeometryCollection', geometries: [inner] };
    expect(findExcess(outer)).toEqual({ ...crosses, at: ['geometries', 0, 'geometries', 1, ...at] });
  });

  it('that has more than 50,000 vertices, all its parts together, and not at 50,000', () => {
    const points = (count: number): Position[] =>
      Array.from({ length: count }, (_, index) => [index / 1e3, 0]);
    const collection = (count: number): Geometry => ({
      type: 'GeometryCollection',
      geometries: [
        { type: 'LineString', coordinates: points(count - 10_008) },
        { type: 'MultiPoint', coordinates: points(4) },
        // The closing position of a ring is not a separate vertex: 10,002 and 2.
        { type: 'GeometryCollection', geometries: [comb(2_500), wkt('LINESTRING(0 0,1 1)')] },
      ],
    });
    expect(findExcess(collection(50_000))).toBeUndefined();
    expect(findExcess(collection(50_001))).toEqual({
      code: 'SCH_SCHEMA_VALIDATION_FAILED',
      at: [],
      message: 'has more than 50,000 vertices',
    });
  });

  it('for nothing else: a line may cross itself, and so may the rings of different parts each other', () => {
    const [ring = []] = ringsOf(star(101));
    expect(findExcess({ type: 'LineString', coordinates: ring })).toBeUndefined();
    const grid = [comb(100), comb(100, [0, 0], { isUpright: false })].map(ringsOf);
    expect(findExcess({ type: 'MultiPolygon', coordinates: grid })).toBeUndefined();
  });
});

describe('the pairs of edges that may have to be compared', () => {
  const [triangle, square] = [wkt('POLYGON((0 0,1 0,1 1,0 0))'), wkt('POLYGON((0 0,1 0,1 1,0 1,0 0))')];

  it('are those of both geometries, and of each with itself', () => {
    expect(countPairs('S_INTERSECTS', triangle, [square])).toBe(3 * 4 + 3 + 6);
    expect(countPairs('S_INTERSECTS', triangle, [square, square])).toBe(2 * (3 * 4 + 6) + 3);
  });

  it('are those of both alone for a distance', () => {
    expect(countPairs('S_DWITHIN', triangle, [square, square])).toBe(2 * 3 * 4);
  });

  it('are fewer for points, which have no edges', () => {
    const points = wkt('MULTIPOINT((0 0),(1 1),(2 2),(3 3),(4 4))');
    expect(countPairs('S_WITHIN', square, [points])).toBeCloseTo(4 * 0.5);
    expect(countPairs('S_DWITHIN', wkt('POINT(0 0)'), [points])).toBeCloseTo(0.1 * 0.5);
  });
});

/** A line that a zigzag line crosses `times` times. */
function crossingItself(times: number): Geometry {
  const zigzag = Array.from(
    { length: times + 1 },
    (_, index): Position => [(index + 1) / 1000, index % 2 === 0 ? 1 : -1],
  );
  const last = zigzag.at(-1) as Position;
  const turnedBack: Position[] = [
    [1, last[1] as number],
    [1, 0],
    [0, 0],
  ];
  const home: Position[] = [
    [0, 2],
    [0.001, 2],
  ];
  return { type: 'Polygon', coordinates: [[...zigzag, ...turnedBack, ...home, zigzag[0] as Position]] };
}
