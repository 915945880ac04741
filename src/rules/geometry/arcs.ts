import type { Shape } from './shape.ts';
import { type Spot, vertexAt } from './spot.ts';

// A shape whose edges are arcs of great circles. An arc to a pole follows a meridian, and the pole is at all longitudes; an arc over a pole does so
// twice. An edge between opposite places, or once round the world, has no single shortest arc: it follows its line in longitude and latitude.

export function withArcs({ points, lines, areas }: Shape): Shape {
  return {
    points,
    lines: lines.map(follow),
    areas: areas.map((area) => area.map((ring) => ({ ...ring, spots: follow(ring.spots) }))),
  };
}

function follow(spots: readonly Spot[]): Spot[] {
  return spots.flatMap((spot, index) => {
    const before = spots[index - 1];
    return before ? [...between(before, spot), spot] : [spot];
  });
}

function between(from: Spot, to: Spot): Spot[] {
  const width = Math.abs(to.x - from.x);
  const areAtOnePole = from.y === to.y && Math.abs(from.y) === 90;
  if (areAtOnePole) return [];
  if (width > 180) return waypoints(from, to, Math.ceil(width));
  if (width > 0 && Math.abs(to.y) === 90) return by(from, vertexAt(from.lon, to.y, from.turn), to);
  if (width > 0 && Math.abs(from.y) === 90) return by(from, vertexAt(to.lon, from.y, to.turn), to);
  const areOpposite =
    Math.abs(from.y + to.y) < close && (width > 180 - close || Math.abs(from.y) > 90 - close);
  if (areOpposite) return waypoints(from, to, 2);
  return width < 180 ? [] : by(from, vertexAt(from.lon, from.y + to.y > 0 ? 90 : -90, from.turn), to);
}

function by(from: Spot, waypoint: Spot, to: Spot): Spot[] {
  return [...between(from, waypoint), waypoint, ...between(waypoint, to)];
}

function waypoints(from: Spot, to: Spot, pieces: number): Spot[] {
  return Array.from({ length: pieces - 1 }, (_, index) => {
    const share = (index + 1) / pieces;
    return vertexAt(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
  });
}

/** Degrees. */
const close = 1e-9;
