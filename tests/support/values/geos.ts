import initGeos from 'geos-wasm';
import { type SpatialOperator, spatialOperators } from '../../../src/protocol/discover-messages.ts';
import type { Geometry, Position } from '../../../src/protocol/geojson.ts';

// GEOS, the C++ port of JTS, as the reference for predicates.

// By default GEOS prints on the console why a geometry is invalid.
const geos = await initGeos({ noticeHandler: () => undefined } as Parameters<typeof initGeos>[0]);
const memory = geos.Module;

type Pointer = number;

/** Whether OGC's rules make it valid: for invalid geometries, GEOS gives no answer or any answer. */
export function isValidForGeos(geometry: Geometry): boolean {
  return using(geometry, geometry, (pointer) => geos.GEOSisValid(pointer) === 1);
}

export function geosPredicates(stored: Geometry, query: Geometry): SpatialOperator[] {
  return using(stored, query, (first, second) =>
    spatialOperators.filter((operator) => predicates[operator]?.(first, second) === 1),
  );
}

const predicates: Partial<Record<SpatialOperator, (first: Pointer, second: Pointer) => number>> = {
  S_INTERSECTS: (first, second) => geos.GEOSIntersects(first, second),
  S_DISJOINT: (first, second) => geos.GEOSDisjoint(first, second),
  S_WITHIN: (first, second) => geos.GEOSWithin(first, second),
  S_CONTAINS: (first, second) => geos.GEOSContains(first, second),
  S_OVERLAPS: (first, second) => geos.GEOSOverlaps(first, second),
  S_CROSSES: (first, second) => geos.GEOSCrosses(first, second),
  S_TOUCHES: (first, second) => geos.GEOSTouches(first, second),
  S_EQUALS: (first, second) => geos.GEOSEquals(first, second),
};

function using<T>(one: Geometry, other: Geometry, work: (one: Pointer, other: Pointer) => T): T {
  const [first, second] = [build(one), build(other)];
  try {
    return work(first, second);
  } finally {
    geos.GEOSGeom_destroy(first);
    geos.GEOSGeom_destroy(second);
  }
}

function build(geometry: Geometry): Pointer {
  switch (geometry.type) {
    case 'Point':
      return point(geometry.coordinates);
    case 'MultiPoint':
      return collection(4, geometry.coordinates.map(point));
    case 'LineString':
      return geos.GEOSGeom_createLineString(sequence(geometry.coordinates));
    case 'MultiLineString':
      return collection(
        5,
        geometry.coordinates.map((line) => geos.GEOSGeom_createLineString(sequence(line))),
      );
    case 'Polygon':
      return polygon(geometry.coordinates);
    case 'MultiPolygon':
      return collection(6, geometry.coordinates.map(polygon));
    case 'GeometryCollection':
      return collection(7, geometry.geometries.map(build));
  }
}

function point([x = 0, y = 0]: Position): Pointer {
  return geos.GEOSGeom_createPointFromXY(x, y);
}

function polygon(rings: readonly Position[][]): Pointer {
  const [shell, ...holes] = rings.map((ring) => geos.GEOSGeom_createLinearRing(sequence(ring)));
  return withPointers(holes, (list) => geos.GEOSGeom_createPolygon(shell as Pointer, list, holes.length));
}

function collection(type: number, members: readonly Pointer[]): Pointer {
  return withPointers(members, (list) => geos.GEOSGeom_createCollection(type, list, members.length));
}

function withPointers(pointers: readonly Pointer[], work: (list: Pointer) => Pointer): Pointer {
  const list = memory._malloc(4 * Math.max(1, pointers.length));
  memory.HEAPU32.set(pointers, list / 4);
  const made = work(list);
  memory._free(list);
  return made;
}

function sequence(positions: readonly Position[]): Pointer {
  const buffer = memory._malloc(16 * positions.length);
  memory.HEAPF64.set(
    positions.flatMap(([x = 0, y = 0]) => [x, y]),
    buffer / 8,
  );
  const made = geos.GEOSCoordSeq_copyFromBuffer(buffer, positions.length, 0, 0);
  memory._free(buffer);
  return made;
}
