import type { SphereBox } from './sphere-box.ts';

/** A box on the map, in degrees. Where west is greater than east, it crosses the date line. */
export interface MapBox {
  west: number;
  north: number;
  east: number;
  south: number;
}

/** Degrees: more than an index rounds coordinates by, ten centimetres on the earth. */
const margin = 1e-6;

export function mapBox({ low, high }: SphereBox): MapBox {
  const [south, north] = [low[2], high[2]].map((sine) => degrees(Math.asin(Math.min(1, Math.max(-1, sine)))));
  const range = { south: Math.max(-90, (south ?? 0) - margin), north: Math.min(90, (north ?? 0) + margin) };
  const hasAxis = low[0] <= 0 && high[0] >= 0 && low[1] <= 0 && high[1] >= 0;
  if (hasAxis) return { ...range, west: -180, east: 180 };
  // Seen from the axis, a box beside it lies between two of its corners, less than half a turn apart.
  const middle = degrees(Math.atan2(low[1] + high[1], low[0] + high[0]));
  const turns = [low[0], high[0]].flatMap((x) =>
    [low[1], high[1]].map((y) => wrapLongitude(degrees(Math.atan2(y, x)) - middle)),
  );
  const [west, east] = [middle + Math.min(...turns) - margin, middle + Math.max(...turns) + margin];
  return { ...range, west: wrapLongitude(west), east: wrapLongitude(east) };
}

/** From -180 to below 180. */
export function wrapLongitude(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180;
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
