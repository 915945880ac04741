import type { Shape } from './shape.ts';
import { type Spot, vertexAt } from './spot.ts';

// A shape whose edges are to be read as arcs of great circles. Between two places that lie opposite each other there is no
// single shortest arc, and an edge once round the world is none: these follow their line in longitude and latitude, by
// places put in between.

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
  if (width > 180) return waypoints(from, to, Math.ceil(width));
  const areOpposite =
    Math.abs(from.y + to.y) < close && (width > 180 - close || Math.abs(from.y) > 90 - close);
  return areOpposite ? waypoints(from, to, 2) : [];
}

function waypoints(from: Spot, to: Spot, pieces: number): Spot[] {
  return Array.from({ length: pieces - 1 }, (_, index) => {
    const share = (index + 1) / pieces;
    return vertexAt(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
  });
}

/** Degrees. */
const close = 1e-9;
