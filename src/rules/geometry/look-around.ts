import { type Edge, type EdgeIndex, edgesAt, firstTurn, lastTurn } from './edges.ts';
import { compareX, compareY, margin, moved, orient, type Spot } from './spot.ts';

// Ray casting: a walk due north from a place to the pole crosses the rings of an area an odd number of times if the place is inside.

export interface Surroundings {
  /** An area that covers the north side, and the south side; for a piece along a meridian, east and west. */
  first: boolean;
  second: boolean;
  onArea: boolean;
  onLine: boolean;
}

/** The middle of a piece is on its own edge. */
export function lookAround(index: EdgeIndex, spot: Spot, own?: Edge): Surroundings {
  // The areas around each side: those that its walk has crossed an odd number of times.
  const first = index.aroundNorthPole.slice();
  const second = index.aroundNorthPole.slice();
  const alongMeridian = own?.isMeridian ?? false;
  let [onArea, onLine] = [false, false];
  const last = lastTurn(index, spot.x);
  for (let turns = firstTurn(index, spot.x); turns <= last; turns++) {
    const here = moved(spot, turns);
    for (const edge of edgesAt(index, here.x)) {
      if (here.x < edge.a.x - margin || here.x > edge.b.x + margin) continue;
      const fromA = compareX(here, edge.a);
      const fromB = compareX(here, edge.b);
      if (fromA < 0 || fromB > 0) continue;
      const height = edge === own ? 0 : heightAbove(edge, here);
      if (height === 0 && edge.area < 0) onLine = true;
      if (height === 0 && edge.area >= 0) onArea = true;
      if (height > 0 || edge.area < 0 || edge.isMeridian) continue;
      // A walk runs just beside its meridian, east or west: an edge that ends there is crossed on one side only.
      if (height < 0 && fromB < 0) toggle(first, edge.area);
      if (alongMeridian ? fromA > 0 : height === 0 || fromB < 0) toggle(second, edge.area);
    }
  }
  return { first: first.length > 0, second: second.length > 0, onArea, onLine };
}

/** Adds an area to a short list, or removes it; faster than a set. */
export function toggle(areas: number[], area: number): void {
  const last = areas.pop();
  if (last === area) return;
  if (last === undefined) {
    areas.push(area);
    return;
  }
  const index = areas.indexOf(area);
  if (index < 0) areas.push(last, area);
  else areas[index] = last;
}

/** Below 0 if the place is south of an edge, 0 on it. All places are on the same side of an edge on a pole. */
function heightAbove({ a, b, isMeridian, isPole }: Edge, place: Spot): number {
  if (isPole) return -a.y;
  if (isMeridian) return compareY(place, a) >= 0 && compareY(place, b) <= 0 ? 0 : 1;
  if (place.y < a.y - margin && place.y < b.y - margin) return -1;
  if (place.y > a.y + margin && place.y > b.y + margin) return 1;
  return orient(a, b, place);
}
