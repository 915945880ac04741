import { type Edge, type EdgeIndex, edgesAt, firstTurn, lastTurn } from './edges.ts';
import { compareX, compareY, moved, orient, type Spot } from './spot.ts';

// What surrounds a place: a walk due north from it to the pole crosses the rings of an area an odd number of times where
// the walk begins inside.

/** What is known of a place, or of a piece of an edge that no other edge crosses, by its middle. */
export interface Surroundings {
  /** An area covers what lies north of it, and south; of a piece along a meridian east, and west. */
  first: boolean;
  second: boolean;
  /** It lies on the edge of an area, of a line. */
  onArea: boolean;
  onLine: boolean;
}

/** The middle of a piece is known to lie on its own edge. */
export function lookAround(index: EdgeIndex, spot: Spot, own?: Edge): Surroundings {
  const around: Surroundings = { first: false, second: false, onArea: false, onLine: false };
  const sides = index.enclosesNorth.map((isEnclosed) => (isEnclosed ? everySide : 0));
  const last = lastTurn(index, spot.x);
  for (let turns = firstTurn(index, spot.x); turns <= last; turns++) {
    const here = moved(spot, turns);
    for (const edge of edgesAt(index, here.x)) {
      if (here.x < edge.a.x - margin || here.x > edge.b.x + margin) continue;
      const fromA = compareX(here, edge.a);
      const fromB = compareX(here, edge.b);
      if (fromA < 0 || fromB > 0) continue;
      const height = edge === own ? 0 : heightAbove(edge, here);
      if (height === 0) {
        if (edge.area < 0) around.onLine = true;
        else around.onArea = true;
      }
      if (edge.area >= 0 && !edge.isMeridian) {
        sides[edge.area] = (sides[edge.area] ?? 0) ^ sidesBelow(height, fromA, fromB);
      }
    }
  }
  let covered = 0;
  for (const side of sides) covered |= side;
  around.first = (covered & northEast) !== 0;
  around.second = (covered & (own?.isMeridian ? west : south)) !== 0;
  return around;
}

/**
 * The sides of the place whose walk crosses an edge. It goes a hair's breadth beside the meridian: an edge that ends on
 * it is crossed on one side only.
 */
function sidesBelow(height: number, fromA: number, fromB: number): number {
  if (height > 0) return 0;
  if (height === 0) return south;
  return (fromB < 0 ? northEast | south : 0) | (fromA > 0 ? west : 0);
}

/** Below 0 where the place lies south of an edge, 0 on it. An edge on a pole has every place on the same side of it. */
function heightAbove({ a, b, isMeridian, isPole }: Edge, place: Spot): number {
  if (isPole) return -a.y;
  if (isMeridian) return compareY(place, a) >= 0 && compareY(place, b) <= 0 ? 0 : 1;
  if (place.y < a.y - margin && place.y < b.y - margin) return -1;
  if (place.y > a.y + margin && place.y > b.y + margin) return 1;
  return orient(a, b, place);
}

/** The northern side is looked at from the eastern edge of the meridian. */
const northEast = 1;
const west = 2;
const south = 4;
const everySide = northEast | west | south;

/** Degrees; more than rounding adds to a coordinate. */
const margin = 1e-9;
