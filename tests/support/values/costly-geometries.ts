import type { Geometry, Position } from '../../../src/protocol/geojson.ts';

// Geometries that are costly to compare.

/** A star with very long edges: each crosses nearly all others. The number of points is odd. */
export function star(points: number, [longitude = 0, latitude = 0]: Position = []): Geometry {
  const step = (Math.PI * (points - 1)) / points;
  const ring = Array.from(
    { length: points },
    (_, index): Position => [longitude + Math.cos(index * step), latitude + Math.sin(index * step)],
  );
  return { type: 'Polygon', coordinates: [[...ring, ring[0] as Position]] };
}

/**
 * A comb of one degree by one, with four vertices per tooth and two more. It does not cross itself; the edges of an upright comb and a lying one all
 * cross each other.
 */
export function comb(
  teeth: number,
  [longitude = 0, latitude = 0]: Position = [],
  { isUpright = true } = {},
): Geometry {
  const place = (along: number, across: number): Position =>
    isUpright ? [longitude + along, latitude + across] : [longitude + across, latitude + along];
  const outline = Array.from({ length: teeth }, (_, index) => {
    const [from, to] = [index / teeth, (index + 0.5) / teeth];
    return [place(from, 0.01), place(from, 1), place(to, 1), place(to, 0.01)];
  }).flat();
  return { type: 'Polygon', coordinates: [[...outline, place(1, 0), place(0, 0), outline[0] as Position]] };
}
