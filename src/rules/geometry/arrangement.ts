import { boxOf, isOn, meetings, ownMeetings } from './edge-meetings.ts';
import { type Box, type Edge, type EdgeIndex, visitEdges } from './edges.ts';
import type { Figure } from './figure.ts';
import { lookAround, type Surroundings } from './look-around.ts';
import { locate, type Node, Nodes, reach } from './node.ts';
import { boundary, exterior, interior, type Location, type Relation, raise, unrelated } from './relation.ts';
import { compareX, compareY, midpoint, moved, type Spot } from './spot.ts';

// The relation of two geometries, by overlay: all edges are cut where they meet others, so that each piece, and each face beside it, is entirely
// inside, on or outside both. Only edges near the other geometry are processed.

export function arrange(first: Figure, second: Figure): Relation {
  const overlay = {
    layers: [first, second],
    near: [edgesNear(first, second.box), edgesNear(second, first.box)],
    cuts: [new Map(), new Map()],
    nodes: new Nodes(),
    relation: unrelated(),
  } satisfies Overlay;
  cutWhereTheyMeet(overlay);
  cutAtPoints(overlay);
  cutAtPoles(overlay);
  for (const which of both) layPieces(overlay, which);
  for (const which of both) layDistantEdges(overlay, which);
  layNodes(overlay);
  return overlay.relation;
}

interface Overlay {
  layers: [Figure, Figure];
  /** The edges of each that may touch the other. */
  near: [readonly Edge[], readonly Edge[]];
  cuts: [Map<Edge, Cut[]>, Map<Edge, Cut[]>];
  nodes: Nodes;
  relation: Relation;
}

interface Cut {
  spot: Spot;
  /** Set if the other geometry, or a point, is also there. */
  node?: Node;
}

const both = [0, 1] as const;

/** In the order of their lines and rings. */
function edgesNear({ index }: Figure, box: Box): Edge[] {
  const near = new Set<Edge>();
  visitEdges(index, box, (edge) => {
    if (!edge.isPole) near.add(edge);
  });
  return [...near].sort((first, second) => first.number - second.number);
}

function cutWhereTheyMeet({ layers, near, cuts, nodes }: Overlay): void {
  for (const edge of near[0]) {
    visitEdges(layers[1].index, boxOf(edge), (other, turns) => {
      for (const spot of meetings(edge, other, turns)) {
        const node = nodes.at(spot);
        add(cuts[0], edge, { spot, node });
        add(cuts[1], other, { spot: moved(spot, -turns), node });
      }
    });
  }
}

function cutAtPoints({ layers, cuts, nodes }: Overlay): void {
  for (const which of both) {
    for (const point of layers[which].points) {
      const node = nodes.at(point);
      node.members[which].isPoint = true;
      const box = { west: point.x, east: point.x, south: point.y, north: point.y };
      for (const other of both) {
        visitEdges(layers[other].index, box, (edge, turns) => {
          const spot = moved(point, -turns);
          if (isOn(edge, spot)) add(cuts[other], edge, { spot, node });
        });
      }
    }
  }
}

/** A pole is one place at all longitudes: lines that end there meet there. */
function cutAtPoles({ layers, near, cuts, nodes }: Overlay): void {
  for (const latitude of [90, -90]) {
    const isThere = both.map(
      (which) =>
        layers[which].points.some(({ y }) => y === latitude) ||
        near[which].some(({ a, b }) => a.y === latitude || b.y === latitude),
    );
    if (!isThere[0] || !isThere[1]) continue;
    for (const which of both) {
      for (const edge of near[which]) {
        for (const spot of [edge.a, edge.b]) {
          if (spot.y === latitude) add(cuts[which], edge, { spot, node: nodes.at(spot) });
        }
      }
    }
  }
}

function layPieces({ layers, near, cuts, relation }: Overlay, which: 0 | 1): void {
  const [own, other] = which === 0 ? [layers[0].index, layers[1].index] : [layers[1].index, layers[0].index];
  let before: Edge | undefined;
  let there: Surroundings | undefined;
  for (const edge of near[which]) {
    const stops = stopsAlong(edge, ownMeetings(own, edge), cuts[which].get(edge));
    if (edge.startsChain || edge.number - 1 !== before?.number) there = undefined;
    before = edge;
    for (let i = 1; i < stops.length; i++) {
      const from = stops[i - 1] as Cut;
      const to = stops[i] as Cut;
      const middle = midpoint(from.spot, to.spot);
      // Along a line or ring this changes only where it meets the other geometry.
      if (from.node) there = undefined;
      there ??= lookAround(other, middle, edge);
      const here = surroundingsOfOwn(own, edge, middle, there);
      note(relation, which, onPiece(here), onPiece(there), 1);
      note(relation, which, inFace(here.first), inFace(there.first), 2);
      note(relation, which, inFace(here.second), inFace(there.second), 2);
      for (const { node } of [from, to]) {
        if (!node) continue;
        reach(node, which, here);
        reach(node, which === 0 ? 1 : 0, there);
      }
    }
    if (edge.aEndsLine) countLineEnd(edge.isForward ? stops[0] : stops.at(-1), which);
    if (edge.bEndsLine) countLineEnd(edge.isForward ? stops.at(-1) : stops[0], which);
  }
}

function countLineEnd(stop: Cut | undefined, which: 0 | 1): void {
  if (stop?.node) stop.node.members[which].lineEnds++;
}

/** An edge of a single area, or of lines, is known without looking, unless it matters which side is the inner one. */
function surroundingsOfOwn(index: EdgeIndex, edge: Edge, middle: Spot, there: Surroundings): Surroundings {
  if (index.areaCount === 0) return besideLine;
  const isPlain = index.areaCount === 1 && edge.area === 0 && ownMeetings(index, edge).length === 0;
  return isPlain && there.first === there.second ? besideArea : lookAround(index, middle, edge);
}

const besideLine: Surroundings = { first: false, second: false, onArea: false, onLine: true };
const besideArea: Surroundings = { first: true, second: false, onArea: true, onLine: false };

/** An area without extent beside its edge (a ring that turns back on itself) is a line there. */
function onPiece({ first, second, onArea, onLine }: Surroundings): Location {
  if (first && second) return interior;
  if (first || second) return boundary;
  return onArea || onLine ? interior : exterior;
}

function inFace(isCovered: boolean): Location {
  return isCovered ? interior : exterior;
}

/** Edges outside the other's box lie outside the other. */
function layDistantEdges({ layers, near, relation }: Overlay, which: 0 | 1): void {
  const { areaEdgeCount, lineEdgeCount } = layers[which].index;
  const nearOfAreas = near[which].filter(({ area }) => area >= 0).length;
  if (areaEdgeCount > nearOfAreas) {
    note(relation, which, boundary, exterior, 1);
    note(relation, which, interior, exterior, 2);
  }
  if (lineEdgeCount > near[which].length - nearOfAreas) note(relation, which, interior, exterior, 1);
}

function note(relation: Relation, which: 0 | 1, own: Location, other: Location, dimension: number): void {
  if (which === 0) raise(relation, own, other, dimension);
  else raise(relation, other, own, dimension);
}

function layNodes({ layers, nodes, relation }: Overlay): void {
  for (const node of nodes.all) {
    for (const which of both) {
      if (!node.members[which].isReached) reach(node, which, lookAround(layers[which].index, node.spot));
    }
    raise(relation, locate(node.members[0]), locate(node.members[1]), 0);
  }
}

/** The ends of an edge and all cuts between them, each place once, in the order of its line or ring. */
function stopsAlong(edge: Edge, own: readonly Spot[], cuts: readonly Cut[] = []): Cut[] {
  const { a, b, isForward, isMeridian } = edge;
  if (own.length + cuts.length === 0)
    return isForward ? [{ spot: a }, { spot: b }] : [{ spot: b }, { spot: a }];
  const compare = isMeridian ? compareY : compareX;
  const all: Cut[] = [{ spot: a }, { spot: b }, ...own.map((spot) => ({ spot })), ...cuts];
  const stops: Cut[] = [];
  for (const cut of all.sort((p, q) => compare(p.spot, q.spot))) {
    const last = stops.at(-1);
    if (!last || compare(last.spot, cut.spot) !== 0) stops.push({ ...cut });
    else last.node ??= cut.node;
  }
  return isForward ? stops : stops.reverse();
}

function add(cuts: Map<Edge, Cut[]>, edge: Edge, cut: Cut): void {
  const known = cuts.get(edge);
  if (known) known.push(cut);
  else cuts.set(edge, [cut]);
}
