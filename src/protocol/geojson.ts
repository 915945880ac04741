/**
 * GeoJSON geometries (RFC 7946): locations of providers, and the query geometry of discover. The keyword `x-geojson` checks what a schema cannot say, so that a fault is one sentence about one position
 * instead of seven failed alternatives.
 */

import type { ErrorCode } from './errors.ts';
import { isJsonObject } from './json.ts';
import { Type } from './type.ts';

/** [longitude, latitude] and an optional altitude, in degrees and metres (WGS 84). */
export type Position = number[];

export type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] };

export const geometryTypes = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
] as const;

export const Geometry = Type.Unsafe<Geometry>(
  Type.Object(
    {
      type: Type.Enum([...geometryTypes], { type: 'string' }),
      coordinates: Type.Optional(
        Type.Array(Type.Unknown(), {
          description:
            'Positions as [longitude, latitude], nested as RFC 7946 says; longitude -180 to 180, latitude -90 to 90.',
        }),
      ),
      geometries: Type.Optional(Type.Array(Type.Unknown(), { description: 'Of a GeometryCollection.' })),
    },
    {
      title: 'Geometry',
      description: 'A GeoJSON geometry of any type (RFC 7946).',
      examples: [{ type: 'Point', coordinates: [-0.129457, 51.507309] }],
      'x-geojson': true,
    },
  ),
);

export interface GeometryFault {
  code: ErrorCode;
  at: (string | number)[];
  message: string;
}

/** The first fault in the positions of a geometry, or undefined. The schema has checked the outline. */
export function findGeometryFault(geometry: unknown): GeometryFault | undefined {
  if (!isJsonObject(geometry)) return invalid([], 'must be a GeoJSON geometry');
  if (geometry.type === 'GeometryCollection') return findCollectionFault(geometry.geometries);
  const check = typeof geometry.type === 'string' ? coordinateChecks.get(geometry.type) : undefined;
  if (!check) return { code: 'SCH_INVALID_ENUM', at: ['type'], message: 'must be a GeoJSON geometry type' };
  if (geometry.coordinates === undefined) return missing(['coordinates']);
  return check(geometry.coordinates, ['coordinates']);
}

function findCollectionFault(members: unknown): GeometryFault | undefined {
  if (members === undefined) return missing(['geometries']);
  return list(findGeometryFaultAt, 1, 'geometries')(members, ['geometries']);
}

function findGeometryFaultAt(geometry: unknown, at: (string | number)[]): GeometryFault | undefined {
  const fault = findGeometryFault(geometry);
  return fault && { ...fault, at: [...at, ...fault.at] };
}

type Check = (value: unknown, at: (string | number)[]) => GeometryFault | undefined;

function list(item: Check, atLeast: number, items: string): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return invalid(at, `must be an array of ${items}`);
    if (value.length < atLeast) return invalid(at, `must have at least ${atLeast} ${items}`);
    for (const [index, entry] of value.entries()) {
      const fault = item(entry, [...at, index]);
      if (fault) return fault;
    }
    return undefined;
  };
}

const position: Check = (value, at) => {
  if (!Array.isArray(value) || value.length < 2)
    return invalid(at, 'must be a position [longitude, latitude]');
  const odd = value.findIndex((number) => typeof number !== 'number');
  if (odd >= 0) return invalid([...at, odd], 'must be a number');
  const [longitude, latitude] = value as [number, number];
  if (Math.abs(longitude) > 180) return invalid([...at, 0], 'must be a longitude from -180 to 180');
  if (Math.abs(latitude) > 90) return invalid([...at, 1], 'must be a latitude from -90 to 90');
  return undefined;
};

const line = list(position, 2, 'positions');
const openRing = list(position, 4, 'positions');

const ring: Check = (value, at) => {
  const fault = openRing(value, at);
  if (fault) return fault;
  const positions = value as Position[];
  const [first, last] = [positions[0], positions.at(-1)];
  const isClosed =
    first?.length === last?.length && first?.every((number, index) => number === last?.[index]);
  return isClosed ? undefined : invalid(at, 'must be a closed ring: its last position repeats its first');
};

const polygon = list(ring, 1, 'rings');

const coordinateChecks = new Map<string, Check>([
  ['Point', position],
  ['MultiPoint', list(position, 1, 'positions')],
  ['LineString', line],
  ['MultiLineString', list(line, 1, 'lines')],
  ['Polygon', polygon],
  ['MultiPolygon', list(polygon, 1, 'polygons')],
]);

function missing(at: (string | number)[]): GeometryFault {
  return { code: 'SCH_REQUIRED_FIELD_MISSING', at, message: 'is missing' };
}

function invalid(at: (string | number)[], message: string): GeometryFault {
  return { code: 'SCH_SCHEMA_VALIDATION_FAILED', at, message };
}
