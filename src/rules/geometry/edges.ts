import type { Area, Shape } from './shape.ts';
import { compareX, margin, moved, type Spot } from './spot.ts';

// The edges of a shape, indexed by longitude. An edge, straight or as a great circle, never leaves the longitudes between its ends.

export interface Edge {
  /** Its index among the edges; the next one continues at its end, unless that starts another line or ring. */
  readonly number: number;
  readonly startsChain: boolean;
  /** The western end; for an edge along a meridian, the southern one. */
  readonly a: Spot;
  readonly b: Spot;
  /** The line or ring runs from a to b. */
  readonly isForward: boolean;
  /** The number of the area that it bounds, or -1 for a part of a line. */
  readonly area: number;
  readonly aEndsLine: boolean;
  readonly bEndsLine: boolean;
  readonly isMeridian: boolean;
  /** On a pole from end to end: no real edge, but a walk to that pole crosses it. */
  readonly isPole: boolean;
}

export interface EdgeIndex {
  readonly edges: readonly Edge[];
  /** How many of them are real, of areas and of lines. */
  readonly areaEdgeCount: number;
  readonly lineEdgeCount: number;
  readonly areaCount: number;
  /** The areas that have the north pole inside a ring round the world. */
  readonly aroundNorthPole: readonly number[];
  /** Where other edges of the same geometry meet an edge; filled on demand. */
  readonly ownMeetings: Map<Edge, readonly Spot[]>;
  /** The range of longitudes of the edges, unwrapped like theirs. */
  readonly west: number;
  readonly east: number;
  readonly bands: readonly (readonly Edge[] | undefined)[];
  readonly bandWidth: number;
}

export function indexEdges({ lines, areas }: Pick<Shape, 'lines' | 'areas'>): EdgeIndex {
  const rings = areas.flatMap((area, number) => area.map(({ spots }) => ({ spots, number })));
  const edges = listEdges([...lines.map((spots) => ({ spots, number: -1 })), ...rings]);
  let [west, east, width] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (const { a, b } of edges) {
    west = Math.min(west, a.x);
    east = Math.max(east, b.x);
    width += b.x - a.x;
  }
  // Narrow enough for few edges per band, wide enough for few bands per edge.
  const bandWidth = Math.max(
    ((east - west) * edgesPerBand) / edges.length,
    width / edges.length,
    narrowestBand,
  );
  const bands: Edge[][] = [];
  for (const edge of edges) {
    const last = bandAt({ west, bandWidth }, edge.b.x + margin);
    for (let band = bandAt({ west, bandWidth }, edge.a.x - margin); band <= last; band++) {
      bands[band] ??= [];
      bands[band]?.push(edge);
    }
  }
  const real = edges.filter(({ isPole }) => !isPole);
  const areaEdgeCount = real.filter(({ area }) => area >= 0).length;
  return {
    edges,
    areaEdgeCount,
    lineEdgeCount: real.length - areaEdgeCount,
    areaCount: areas.length,
    aroundNorthPole: [...areas.keys()].filter((number) => isAroundNorthPole(areas[number] ?? [])),
    ownMeetings: new Map(),
    west,
    east,
    bands,
    bandWidth,
  };
}

export function listEdges(chains: readonly { spots: readonly Spot[]; number: number }[]): Edge[] {
  let start = Number.POSITIVE_INFINITY;
  for (const { spots } of chains) for (const { x } of spots) start = Math.min(start, x);
  const edges: Edge[] = [];
  for (const { spots, number } of chains) addEdges(edges, spots, number, start);
  return edges;
}

function isAroundNorthPole(area: Area): boolean {
  return area.filter(({ pole }) => pole === 'north').length % 2 === 1;
}

/** Unwrapped so that every edge begins within one turn from the given longitude: then neighbours are adjacent. */
function addEdges(edges: Edge[], spots: readonly Spot[], area: number, start: number): void {
  for (let i = 1; i < spots.length; i++) {
    const from = spots[i - 1] as Spot;
    const to = spots[i] as Spot;
    const eastward = compareX(to, from) || to.y - from.y;
    const isForward = eastward > 0;
    const west = isForward ? from : to;
    const east = isForward ? to : from;
    const turns = -Math.floor((west.x - start) / 360);
    const startsLine = area < 0 && i === 1;
    const endsLine = area < 0 && i === spots.length - 1;
    edges.push({
      number: edges.length,
      startsChain: i === 1,
      a: moved(west, turns),
      b: moved(east, turns),
      isForward,
      area,
      aEndsLine: isForward ? startsLine : endsLine,
      bEndsLine: isForward ? endsLine : startsLine,
      isMeridian: compareX(west, east) === 0,
      isPole: west.y === east.y && Math.abs(west.y) === 90,
    });
  }
}

export function edgesAt(index: EdgeIndex, x: number): readonly Edge[] {
  return index.bands[bandAt(index, x)] ?? [];
}

/** The number of turns between a longitude and its place among the edges: from the first to the last possible one. */
export function firstTurn(index: EdgeIndex, east: number): number {
  return Math.ceil((index.west - margin - east) / 360);
}

export function lastTurn(index: EdgeIndex, west: number): number {
  return Math.floor((index.east + margin - west) / 360);
}

export interface Box {
  west: number;
  east: number;
  south: number;
  north: number;
}

/** Visits the edges whose boxes meet a box, each with the turns that shift it to the longitudes of the box. */
export function visitEdges(index: EdgeIndex, box: Box, visit: (edge: Edge, turns: number) => void): void {
  const lastTurns = lastTurn(index, box.west);
  for (let turns = firstTurn(index, box.east); turns <= lastTurns; turns++) {
    const west = box.west + 360 * turns - margin;
    const east = box.east + 360 * turns + margin;
    const firstBand = bandAt(index, west);
    const lastBand = Math.min(bandAt(index, east), index.bands.length - 1);
    for (let band = firstBand; band <= lastBand; band++) {
      for (const edge of index.bands[band] ?? []) {
        if (edge.b.x < west || edge.a.x > east) continue;
        if (edge.a.y > box.north && edge.b.y > box.north) continue;
        if (edge.a.y < box.south && edge.b.y < box.south) continue;
        // An edge is in every band that it crosses; the first one counts.
        if (band === Math.max(firstBand, bandAt(index, edge.a.x - margin))) visit(edge, -turns);
      }
    }
  }
}

function bandAt({ west, bandWidth }: Pick<EdgeIndex, 'west' | 'bandWidth'>, x: number): number {
  return Math.max(0, Math.floor((x - west) / bandWidth));
}

const edgesPerBand = 4;
/** Degrees; limits the number of bands if all edges are on one meridian. */
const narrowestBand = 1e-6;
