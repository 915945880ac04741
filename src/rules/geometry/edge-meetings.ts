import { type Box, type Edge, type EdgeIndex, visitEdges } from './edges.ts';
import { compareX, compareY, crossing, isSameVertex, moved, orient, type Spot } from './spot.ts';

/** The places where other edges of the same geometry meet an edge: in collections, and in rings that cross themselves. Neighbours that only share an end do not count. */
export function ownMeetings(index: EdgeIndex, edge: Edge): readonly Spot[] {
  const known = index.ownMeetings.get(edge);
  if (known) return known;
  const spots: Spot[] = [];
  visitEdges(index, boxOf(edge), (other, turns) => {
    const met = other === edge ? [] : meetings(edge, other, turns);
    const overlaps = met.some((spot) => !isSameVertex(spot, met[0] as Spot));
    spots.push(...met.filter((spot) => overlaps || !isEnd(edge, spot)));
  });
  index.ownMeetings.set(edge, spots);
  return spots;
}

function isEnd({ a, b }: Edge, spot: Spot): boolean {
  return isSameVertex(spot, a) || isSameVertex(spot, b);
}

/** The places where an edge meets another one: where they cross, or the ends of one that are on the other. `turns` shift the other one's longitudes. */
export function meetings(edge: Edge, other: Edge, turns: number): Spot[] {
  if (other.isPole || edge.isPole) return [];
  const { a, b } = edge;
  const c = moved(other.a, turns);
  const d = moved(other.b, turns);
  const sideOfC = orient(a, b, c);
  const sideOfD = orient(a, b, d);
  if (sideOfC * sideOfD > 0) return [];
  const sideOfA = orient(c, d, a);
  const sideOfB = orient(c, d, b);
  if (sideOfA * sideOfB > 0) return [];
  if (sideOfC * sideOfD < 0 && sideOfA * sideOfB < 0) return [crossing(a, b, c, d)];
  const spots: Spot[] = [];
  if (sideOfC === 0 && isInBox(c, a, b)) spots.push(c);
  if (sideOfD === 0 && isInBox(d, a, b)) spots.push(d);
  if (sideOfA === 0 && isInBox(a, c, d)) spots.push(a);
  if (sideOfB === 0 && isInBox(b, c, d)) spots.push(b);
  return spots;
}

export function isOn({ a, b, isPole }: Edge, spot: Spot): boolean {
  return !isPole && isInBox(spot, a, b) && orient(a, b, spot) === 0;
}

/** The ends are given from west to east. */
function isInBox(spot: Spot, a: Spot, b: Spot): boolean {
  if (compareX(spot, a) < 0 || compareX(spot, b) > 0) return false;
  const [fromA, fromB] = [compareY(spot, a), compareY(spot, b)];
  return (fromA >= 0 && fromB <= 0) || (fromA <= 0 && fromB >= 0);
}

export function boxOf({ a, b }: Edge): Box {
  return { west: a.x, east: b.x, south: Math.min(a.y, b.y), north: Math.max(a.y, b.y) };
}
