import type { Address, Location } from '../protocol/catalog.ts';
import type { Geometry, Position } from '../protocol/geojson.ts';
import { distanceBetween } from '../rules/geometry/distance.ts';

export function findPoint(latitude: number | undefined, longitude: number | undefined): Geometry | undefined {
  if (latitude === undefined || Math.abs(latitude) > 90) return undefined;
  if (longitude === undefined || Math.abs(longitude) > 180) return undefined;
  return { type: 'Point', coordinates: [longitude, latitude] };
}

/** Explains why the two coordinates are not a valid point; they may be swapped. */
export function whyNoPoint(latitude: number | undefined, longitude: number | undefined): string {
  return findPoint(longitude, latitude)
    ? 'has no position on earth, but has one with latitude and longitude swapped: it will not be found by place'
    : 'has no position on earth: it will not be found by place';
}

/** Any position of a geometry: charging stations are small. */
export function positionOf(geometry: Geometry): Position | undefined {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.map(positionOf).find(Boolean);
  const numbers: unknown[] = geometry.coordinates.flat(3);
  return numbers.slice(0, 2) as Position;
}

/**
 * Whether two descriptions of a station mean two places. Coordinates decide. If one has none, the postal codes or the
 * names of the cities decide, because streets are spelled in many ways.
 */
export function isElsewhere(one: Location, other: Location): boolean {
  if (one.geo && other.geo) return distanceBetween(one.geo, other.geo) > samePlaceMeters;
  for (const member of ['postalCode', 'addressLocality'] as const) {
    const [here, there] = [one.address?.[member], other.address?.[member]];
    if (here !== undefined && there !== undefined) return plain(here) !== plain(there);
  }
  return false;
}

/** Covers the distance between connectors of a large station, and rounding. */
const samePlaceMeters = 250;

function plain(text: string): string {
  return text.replace(/[\s-]/g, '').toLowerCase();
}

/** Without the unknown parts; undefined if none is known. */
export function findAddress(address: Address): Address | undefined {
  const known = Object.entries(address).filter(([, text]) => text !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
