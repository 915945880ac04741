import type { Position } from '../../protocol/geojson.ts';
import { isSameVertex, type Spot, vertexAt } from './spot.ts';

// Edges are straight in longitude and latitude (RFC 7946 section 3.1.1); one that spans more than 180° means the short way, across the date line.
// Longitudes are unwrapped there: 170, 190 instead of 170, -170. A ring that ends a full turn from its start encloses a pole.

export interface Ring {
  /** The last one equals the first one, or is one turn from it if the ring goes round a pole. */
  spots: Spot[];
  pole?: 'north' | 'south';
}

export function unwrapLine(positions: readonly Position[]): Spot[] {
  const spots = unwrap(positions, false);
  return spots.length > 1 ? spots : unwrap(positions, true);
}

export function unwrapRing(positions: readonly Position[]): Ring {
  const short = unwrap(positions, false);
  const spots = hasWidth(short) ? short : unwrap(positions, true);
  const pole = enclosedPole(spots);
  return pole ? { spots, pole } : { spots };
}

/** An edge from -180 to 180 joins two names of one meridian: it has no length, except along a pole, or if nothing else gives the geometry any width (a box round the world). */
function unwrap(positions: readonly Position[], keepParallels: boolean): Spot[] {
  const spots: Spot[] = [];
  let turns = 0;
  let before: Position | undefined;
  for (const position of positions) {
    const [longitude = 0, latitude = 0] = position;
    const span = longitude - (before?.[0] ?? longitude);
    const isParallel = Math.abs(span) === 360 && before?.[1] === latitude;
    if (!(isParallel && (keepParallels || Math.abs(latitude) === 90))) turns -= turnsToTheShortWay(span);
    const spot = vertexAt(longitude, latitude, turns);
    const last = spots.at(-1);
    if (!last || !isSameVertex(last, spot)) spots.push(spot);
    before = position;
  }
  return spots;
}

function turnsToTheShortWay(span: number): number {
  return Math.abs(span) > 180 ? Math.round(span / 360) : 0;
}

function hasWidth(spots: readonly Spot[]): boolean {
  return spots.some(({ x }) => x !== spots[0]?.x);
}

/** The pole on the side of the smaller part of the world; on the left of a ring that halves it (RFC 7946 section 3.1.6). */
function enclosedPole(spots: readonly Spot[]): Ring['pole'] {
  const [first, last] = [spots[0], spots.at(-1)];
  if (!first || !last || first.turn === last.turn) return undefined;
  let [north, before] = [0, first];
  for (const spot of spots) {
    north += (spot.x - before.x) * Math.sin(((spot.y + before.y) * Math.PI) / 360);
    before = spot;
  }
  const eastward = last.turn - first.turn;
  if (Math.abs(north) < sameHalves) return eastward > 0 ? 'north' : 'south';
  return north * eastward > 0 ? 'north' : 'south';
}

/** Degrees, times a sine: more than the rounding of a ring along the equator. */
const sameHalves = 1e-9;
