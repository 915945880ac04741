import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Geometry } from '../../protocol/geojson.ts';
import { queryBox, type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import { areasOf, shapesOf } from './boxes.ts';
import type { Shape } from './mapping.ts';

const position = fc.tuple(
  fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, -179.999, 0, 179.999, 180)),
  fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, -89.999, 0, 89.999, 90)),
);
const geometry: fc.Arbitrary<Geometry> = fc.oneof(
  position.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
  fc.tuple(position, position).map((coordinates): Geometry => ({ type: 'LineString', coordinates })),
);
const distance = fc.constantFrom(0, 1, 1_000, 100_000, 5_000_000, 19_000_000);

describe('boxes in longitude and latitude', () => {
  it('meet wherever boxes on the sphere do', () => {
    fc.assert(
      fc.property(geometry, geometry, distance, (stored, asked, metres) => {
        const box = queryBox('S_DWITHIN', asked, metres);
        if (box === undefined || !meets(sphereBox(stored), box)) return;
        const shapes = shapesOf(sphereBox(stored));
        expect(areasOf(box).some((area) => shapes.some((shape) => overlap(shape, area)))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('stay within what OpenSearch takes, and are never without width or height', () => {
    fc.assert(
      fc.property(geometry, distance, (asked, metres) => {
        const box = queryBox('S_DWITHIN', asked, metres);
        for (const shape of box ? areasOf(box) : []) {
          const { west, east, south, north } = boundsOf(shape);
          expect(west).toBeGreaterThanOrEqual(-180);
          expect(east).toBeLessThanOrEqual(180);
          expect(south).toBeGreaterThanOrEqual(-90);
          expect(north).toBeLessThanOrEqual(90);
          expect(Math.min(east - west, north - south)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('keep a point a point, and a small circle small', () => {
    const berlin: Geometry = { type: 'Point', coordinates: [13.4, 52.5] };
    const [shape] = shapesOf(sphereBox(berlin));
    expect(shape?.type).toBe('point');
    const [area] = areasOf(queryBox('S_DWITHIN', berlin, 1_000) as SphereBox);
    const { west, east, south, north } = boundsOf(area as Shape);
    expect(north - south).toBeLessThan(0.04);
    expect(east - west).toBeLessThan(0.05);
  });
});

function meets(a: SphereBox, b: SphereBox): boolean {
  return [0, 1, 2].every(
    (axis) => (a.low[axis] ?? 0) <= (b.high[axis] ?? 0) && (b.low[axis] ?? 0) <= (a.high[axis] ?? 0),
  );
}

function overlap(a: Shape, b: Shape): boolean {
  const [one, other] = [boundsOf(a), boundsOf(b)];
  return (
    one.west <= other.east && other.west <= one.east && one.south <= other.north && other.south <= one.north
  );
}

function boundsOf(shape: Shape) {
  if (shape.type === 'point') {
    const [x, y] = shape.coordinates;
    return { west: x, east: x, south: y, north: y };
  }
  const [[west, north], [east, south]] = shape.coordinates;
  return { west, east, south, north };
}
