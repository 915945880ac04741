import fc from 'fast-check';
import type { Geometry, Position } from '../../../src/protocol/geojson.ts';

// Random geometries. On a coarse lattice they often share corners and edges, which is where predicates are hard.

export interface Lattice {
  west: number;
  south: number;
  /** Degrees between neighbours; a power of two keeps every sum exact. */
  step: number;
  /** Neighbours in each direction. */
  size: number;
}

export const smallLattice: Lattice = { west: 0, south: 0, step: 1, size: 6 };

export type PlainType = Exclude<Geometry['type'], 'GeometryCollection'>;
export const plainTypes: readonly PlainType[] = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
];

export function arbitraryGeometry(lattice: Lattice = smallLattice): fc.Arbitrary<Geometry> {
  const plain = fc.oneof(...plainTypes.map((type) => arbitraryOfType(type, lattice)));
  const collection = fc
    .array(plain, { minLength: 1, maxLength: 3 })
    .map((geometries): Geometry => ({ type: 'GeometryCollection', geometries }));
  return fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: collection });
}

export function arbitraryOfType(type: PlainType, lattice: Lattice = smallLattice): fc.Arbitrary<Geometry> {
  const { west, south, step, size } = lattice;
  const number = fc.integer({ min: 0, max: size });
  const position = fc.tuple(number, number);
  const line = fc.array(position, { minLength: 2, maxLength: 4 });
  const few = { minLength: 1, maxLength: 3 };
  const arbitraries: Record<PlainType, fc.Arbitrary<unknown>> = {
    Point: position,
    MultiPoint: fc.array(position, few),
    LineString: line,
    MultiLineString: fc.array(line, few),
    Polygon: polygon(size),
    MultiPolygon: fc.array(polygon(size), few),
  };
  const place = ([x = 0, y = 0]: Position): Position => [west + step * x, south + step * y];
  return arbitraries[type].map((coordinates) => mapPositions({ type, coordinates } as Geometry, place));
}

/** A triangle, a box, or a box with a hole that may touch its shell in a corner; rings start anywhere and run both ways. */
function polygon(size: number): fc.Arbitrary<Position[][]> {
  const number = fc.integer({ min: 0, max: size });
  const corner = fc.tuple(number, number);
  const triangle = fc
    .tuple(corner, corner, corner)
    .filter(([[ax, ay], [bx, by], [cx, cy]]) => (bx - ax) * (cy - ay) !== (by - ay) * (cx - ax))
    .map((corners) => [corners]);
  const sides = fc.uniqueArray(number, { minLength: 2, maxLength: 2 });
  const box = fc.tuple(sides, sides).map(([[a = 0, b = 0], [c = 0, d = 0]]) => [
    [
      [a, c],
      [b, c],
      [b, d],
      [a, d],
    ],
  ]);
  const low = fc.integer({ min: 0, max: size - 3 });
  const frame = fc.tuple(low, low, fc.boolean()).map(([x, y, touches]) => [
    [
      [x, y],
      [x + 3, y],
      [x + 3, y + 3],
      [x, y + 3],
    ],
    touches
      ? [
          [x, y],
          [x + 1, y + 2],
          [x + 2, y + 1],
        ]
      : [
          [x + 1, y + 1],
          [x + 2, y + 1],
          [x + 2, y + 2],
        ],
  ]);
  return fc
    .tuple(fc.oneof<fc.Arbitrary<Position[][]>[]>(triangle, box, frame), fc.nat(3), fc.boolean())
    .map(([rings, start, isReversed]) => rings.map((ring) => closed(ring, start, isReversed)));
}

function closed(ring: readonly Position[], start: number, isReversed: boolean): Position[] {
  const first = start % ring.length;
  const turned = [...ring.slice(first), ...ring.slice(0, first)];
  const ordered = isReversed ? turned.reverse() : turned;
  return [...ordered, ordered[0] as Position];
}

export function mapPositions(geometry: Geometry, map: (position: Position) => Position): Geometry {
  if (geometry.type === 'GeometryCollection') {
    return { ...geometry, geometries: geometry.geometries.map((member) => mapPositions(member, map)) };
  }
  const mapped = (coordinates: unknown): unknown =>
    typeof (coordinates as unknown[])[0] === 'number'
      ? map(coordinates as Position)
      : (coordinates as unknown[]).map(mapped);
  return { ...geometry, coordinates: mapped(geometry.coordinates) } as Geometry;
}

/** Moves a geometry eastward; longitudes continue after the date line as in RFC 7946, from -180 to 180. */
export function movedEast(geometry: Geometry, degrees: number): Geometry {
  return mapPositions(geometry, ([longitude = 0, latitude = 0]) => {
    const moved = longitude + degrees;
    return [moved > 180 ? moved - 360 : moved < -180 ? moved + 360 : moved, latitude];
  });
}
