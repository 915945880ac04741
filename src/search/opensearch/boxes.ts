import type { SphereBox } from '../../rules/geometry/sphere-box.ts';
import type { Shape } from './mapping.ts';

// Boxes on the sphere as boxes in longitude and latitude, which OpenSearch indexes. Where two boxes on the sphere have a point in common, so do theirs: its height tells a latitude that both have, and its direction
// from the axis a longitude. So what is found is never less than what our own spatial index finds.

/** Degrees, about a metre: more than OpenSearch rounds by. */
const margin = 1e-5;

/** In longitude and latitude, each within its bounds; two where a box lies across the date line. */
export function shapesOf(box: SphereBox): Shape[] {
  const [south, north] = latitudesOf(box);
  const [west, east] = longitudesOf(box);
  if (isPoint(east - west) && isPoint(north - south) && Math.abs(west) < 180 - margin)
    return [{ type: 'point', coordinates: [(west + east) / 2, (south + north) / 2] }];
  const [bottom, top] = [Math.max(-90, south - margin), Math.min(90, north + margin)];
  return splitAtDateLine(west - margin, east + margin).map(([left, right]) => ({
    type: 'envelope',
    coordinates: [
      [left, top],
      [right, bottom],
    ],
  }));
}

/** Areas to be held against those: a point is grown. */
export function areasOf(box: SphereBox): Shape[] {
  return shapesOf(box).map((shape) => (shape.type === 'envelope' ? shape : grow(shape.coordinates)));
}

function grow([longitude, latitude]: [number, number]): Shape {
  return {
    type: 'envelope',
    coordinates: [
      [longitude - margin, Math.min(90, latitude + margin)],
      [longitude + margin, Math.max(-90, latitude - margin)],
    ],
  };
}

function isPoint(degrees: number): boolean {
  return degrees < margin / 10;
}

function latitudesOf({ low, high }: SphereBox): [south: number, north: number] {
  return [toDegrees(Math.asin(clamp(low[2]))), toDegrees(Math.asin(clamp(high[2])))];
}

function clamp(value: number): number {
  return Math.min(1, Math.max(-1, value));
}

function toDegrees(angle: number): number {
  return (angle * 180) / Math.PI;
}

const allLongitudes: [number, number] = [-180, 180];

/** West may be below -180, where the box lies across the date line. */
function longitudesOf({ low: [west, south], high: [east, north] }: SphereBox): [west: number, east: number] {
  // Seen from the axis of the earth, which may go through the box.
  if (west <= 0 && east >= 0 && south <= 0 && north >= 0) return allLongitudes;
  const corners = [
    [west, south],
    [west, north],
    [east, south],
    [east, north],
  ].map(([x = 0, y = 0]) => toDegrees(Math.atan2(y, x)));
  const isAcross = east < 0 && south < 0 && north >= 0;
  const turned = isAcross ? corners.map((angle) => (angle > 0 ? angle - 360 : angle)) : corners;
  return [Math.min(...turned), Math.max(...turned)];
}

function splitAtDateLine(west: number, east: number): [west: number, east: number][] {
  if (east - west >= 360) return [allLongitudes];
  if (west < -180)
    return [
      [west + 360, 180],
      [-180, east],
    ];
  if (east > 180)
    return [
      [west, 180],
      [-180, east - 360],
    ];
  return [[west, east]];
}
