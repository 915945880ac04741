import type { SpatialOperator } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { withArcs } from './arcs.ts';
import type { Box } from './edges.ts';
import { shapeOf } from './shape.ts';
import { cosine, earthRadiusMeters, leftOf, sine, toVector, type Vector } from './sphere.ts';
import type { Spot } from './spot.ts';

// Boxes in space around the unit sphere, for an index of candidates: three dimensions have no date line and no poles. A box contains its geometry both with straight edges and with great circles.

export interface SphereBox {
  low: Vector;
  high: Vector;
}

/** The box of a point is the point itself, without rounding: the distance between two points follows from their boxes. */
export function sphereBox(geometry: Geometry): SphereBox {
  const point = pointOf(geometry);
  if (point) return { low: point, high: point };
  const { points, lines, areas } = withArcs(shapeOf(geometry));
  const parts = [...points.map((point) => [point]), ...lines].map((spots) => patchAround([{ spots }]));
  return grown(unite([...parts, ...areas.map(patchAround)].map(boxAroundPatch)), rounding);
}

/** On the unit sphere; undefined for other types than Point. */
export function pointOf(geometry: Geometry): Vector | undefined {
  if (geometry.type !== 'Point') return undefined;
  const [longitude = 0, latitude = 0] = geometry.coordinates;
  return toVector(longitude, latitude);
}

/** A box that meets the box of every geometry for which the predicate is true. Undefined if no box bounds them: geometries far away are disjoint, too, and some distances reach round the world. */
export function queryBoxAround(operator: SpatialOperator, geometryBox: SphereBox, distanceMeters = 0) {
  if (operator === 'S_DISJOINT') return undefined;
  if (operator !== 'S_DWITHIN') return grown(geometryBox, rounding);
  const angle = distanceMeters / earthRadiusMeters;
  if (angle >= Math.PI) return undefined;
  const box = grown(geometryBox, 2 * Math.sin(angle / 2) + rounding);
  return box.low.every((value) => value <= -1) && box.high.every((value) => value >= 1) ? undefined : box;
}

/** Around lines or the rings of an area; great circles reach past the latitudes of their ends. */
function patchAround(rings: readonly { spots: readonly Spot[]; pole?: 'north' | 'south' }[]): Box {
  const patch = { west: Infinity, east: -Infinity, south: Infinity, north: -Infinity };
  for (const { spots, pole } of rings) {
    for (const [index, spot] of spots.entries()) {
      const before = spots[index - 1];
      const latitudes = before ? [spot.y, ...turningPoints(before, spot)] : [spot.y];
      patch.west = Math.min(patch.west, spot.x);
      patch.east = Math.max(patch.east, spot.x);
      patch.south = Math.min(patch.south, ...latitudes);
      patch.north = Math.max(patch.north, ...latitudes);
    }
    if (pole === 'north') patch.north = 90;
    if (pole === 'south') patch.south = -90;
  }
  return patch;
}

/** The latitude at which an arc is nearest to a pole, if that is between its ends. */
function turningPoints(from: Spot, to: Spot): number[] {
  const [a, b] = [toVector(from.lon, from.y), toVector(to.lon, to.y)];
  const [x, y, z] = leftOf(a, b);
  // The northward component of the way from each end.
  const [climbAtStart, climbAtEnd] = [x * a[1] - y * a[0], x * b[1] - y * b[0]];
  if (climbAtStart * climbAtEnd >= 0) return [];
  const latitude = (Math.atan2(Math.hypot(x, y), Math.abs(z)) * 180) / Math.PI;
  return [climbAtStart > 0 ? latitude : -latitude];
}

function boxAroundPatch({ west, east, south, north }: Box): SphereBox {
  const widths = [cosine(south), cosine(north)];
  const narrow = Math.min(...widths);
  const wide = south <= 0 && north >= 0 ? 1 : Math.max(...widths);
  const [x, y] = [range(west, east), range(west - 90, east - 90)].map(([least, most]) => [
    least * (least < 0 ? wide : narrow),
    most * (most > 0 ? wide : narrow),
  ]) as [[number, number], [number, number]];
  return { low: [x[0], y[0], sine(south)], high: [x[1], y[1], sine(north)] };
}

function range(from: number, to: number): [least: number, most: number] {
  const [first, last] = [cosine(from), cosine(to)];
  return [
    includes(from, to, 180) ? -1 : Math.min(first, last),
    includes(from, to, 0) ? 1 : Math.max(first, last),
  ];
}

function includes(from: number, to: number, angle: number): boolean {
  return Math.ceil((from - angle) / 360) <= Math.floor((to - angle) / 360);
}

function unite(boxes: readonly SphereBox[]): SphereBox {
  return boxes.reduce((united, { low, high }) => ({
    low: combine(united.low, low, Math.min),
    high: combine(united.high, high, Math.max),
  }));
}

function grown({ low, high }: SphereBox, by: number): SphereBox {
  return {
    low: combine(low, [by, by, by], (value, margin) => value - margin),
    high: combine(high, [by, by, by], (value, margin) => value + margin),
  };
}

function combine(a: Vector, b: Vector, how: (a: number, b: number) => number): Vector {
  return [how(a[0], b[0]), how(a[1], b[1]), how(a[2], b[2])];
}

/** More than the rounding of a coordinate; less than a tenth of a millimetre on the earth. */
export const rounding = 1e-11;
