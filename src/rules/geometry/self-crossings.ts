import type { Position } from '../../protocol/geojson.ts';
import { meetings } from './edge-meetings.ts';
import { type Edge, listEdges } from './edges.ts';
import { isSameVertex, margin, moved, type Spot } from './spot.ts';
import { SweepLine, type SweptPart, side } from './sweep-line.ts';
import { unwrapRing } from './unwrap.ts';

// Counts how often a ring crosses itself, by a sweep (Shamos and Hoey): from west to east, the edges at the sweep line are kept in order from south to north, and only neighbours are compared. If two
// cross, one leaves the sweep and is compared with all that are left, so the order stays right. That takes n log n steps, and n more for each edge that leaves: at most the limit and one.

/** Counts the pairs of edges that share more than an end. Stops above the limit. */
export function countSelfCrossings(positions: readonly Position[], limit: number): number {
  const ring = createRing(positions);
  const parts = ring.parts();
  const indexes = [...parts.keys()];
  const [startOf, endOf] = [(part = -1) => parts[part]?.a, (part = -1) => parts[part]?.b];
  const edgeOf = (part = -1) => parts[part]?.edge ?? -1;
  const starts = indexes.toSorted((one, other) => comparePlaces(startOf(one), startOf(other)));
  const ends = indexes.toSorted((one, other) => comparePlaces(endOf(one), endOf(other)));
  const line = new SweepLine(parts);
  let count = 0;

  /** Compares the edge at a position with its southern neighbour. Returns whether an edge left the sweep. */
  function compareAt(position: number): boolean {
    const [south, north] = [edgeOf(line.at(position - 1)), edgeOf(line.at(position))];
    if (count > limit || south < 0 || north < 0 || !ring.doCross(south, north)) return false;
    count += ring.takeOut(north);
    for (const part of line.delete(north)) compareNorthOf(part);
    return true;
  }

  function compareNorthOf(part: number | undefined): void {
    const position = part === undefined ? -1 : line.positionOf(part);
    if (position >= 0) compareAt(position + 1);
  }

  for (let [start, end] = [0, 0]; end < ends.length && count <= limit; ) {
    const [nextStart, nextEnd] = [startOf(starts[start]), endOf(ends[end])];
    const place = (comparePlaces(nextStart, nextEnd) < 0 ? nextStart : nextEnd) as Spot;
    const isHere = (spot?: Spot) => spot !== undefined && comparePlaces(spot, place) === 0;
    const first = start;
    while (isHere(startOf(starts[start]))) start += 1;
    while (isHere(endOf(ends[end]))) end += 1;
    const starting = starts.slice(first, start).filter((part) => ring.has(edgeOf(part)));
    const { from, parts: through } = line.replaceAt(place, (before) =>
      [...before.filter((part) => !isHere(endOf(part))), ...starting].sort((one, other) =>
        side(place, endOf(other) ?? place, endOf(one) ?? place),
      ),
    );
    let areMoved = false;
    for (const [offset, south] of [line.at(from - 1), ...through].entries()) {
      if (areMoved) compareNorthOf(south);
      else areMoved = compareAt(from + offset);
    }
  }
  return count;
}

/** From west to east, on one meridian from south to north; undefined comes last. */
function comparePlaces(p: Spot | undefined, q: Spot | undefined): number {
  if (p === undefined || q === undefined) return p === q ? 0 : p === undefined ? 1 : -1;
  return p.x - q.x || p.y - q.y;
}

/** The edges of a ring. Some leave it during the sweep. */
function createRing(positions: readonly Position[]) {
  const edges = listEdges([{ spots: unwrapRing(positions).spots, number: 0 }]);
  const hasLeft = edges.map(({ isPole }) => isPole);
  const west = edges.reduce((least, { a }) => Math.min(least, a.x), Number.POSITIVE_INFINITY);
  const isBeyondTurn = ({ b }: Edge) => b.x >= west + 360;
  /** If the ring leads round the world, edges may also meet others a turn away. */
  const turnsBetween = edges.some(isBeyondTurn) ? [-1, 0, 1] : [0];
  const has = (edge: number) => hasLeft[edge] === false;
  const doCross = (first: number, second: number) => {
    const [edge, other] = [edges[first] as Edge, edges[second] as Edge];
    return turnsBetween.some((turns) => mayMeet(edge, other, turns) && shareMoreThanEnds(edge, other, turns));
  };
  return {
    has,
    doCross,
    /** One part of each edge, and a second one of each edge that leads beyond a turn, at the start of that turn. */
    parts: (): SweptPart[] =>
      edges.flatMap((edge) => {
        const { number, a, b, isPole } = edge;
        if (isPole) return [];
        const again = isBeyondTurn(edge) ? [{ edge: number, a: moved(a, -1), b: moved(b, -1) }] : [];
        return [{ edge: number, a, b }, ...again];
      }),
    /** Removes an edge. Returns how many of the remaining edges cross it. */
    takeOut(edge: number): number {
      hasLeft[edge] = true;
      return edges.filter(({ number }) => has(number) && doCross(edge, number)).length;
    },
  };
}

function mayMeet({ a, b }: Edge, other: Edge, turns: number): boolean {
  const by = 360 * turns;
  if (other.b.x + by < a.x - margin || other.a.x + by > b.x + margin) return false;
  if (Math.max(other.a.y, other.b.y) < Math.min(a.y, b.y)) return false;
  return Math.min(other.a.y, other.b.y) <= Math.max(a.y, b.y);
}

/** Two places are a shared stretch; a single one may be an end of both. */
function shareMoreThanEnds(edge: Edge, other: Edge, turns: number): boolean {
  const [first, ...more] = meetings(edge, other, turns);
  if (first === undefined || more.some((spot) => !isSameVertex(spot, first))) return first !== undefined;
  const ends = [edge.a, edge.b].some((end) => isSameVertex(first, end));
  return !ends || ![other.a, other.b].some((end) => isSameVertex(first, moved(end, turns)));
}
