import type { SpatialOperator } from '../../protocol/discover-messages.ts';
import type { Geometry, GeometryFault, Position } from '../../protocol/geojson.ts';
import { countSelfCrossings } from './self-crossings.ts';

// The cost of comparing geometries, estimated from their positions: which are accepted, and which comparisons take long.

const maxSelfCrossings = 100;
const maxVertices = 50_000;
/** So few edges have fewer pairs than the limit of crossings: no need to count. */
const fewEdges = 14;

/** Finds out why a valid geometry is too expensive to search (decided: refused in a publish, in a crawled file and in an intent). 50,000 vertices take some tenths of a second. */
export function findExcess(geometry: Geometry): GeometryFault | undefined {
  let vertices = 0;
  for (const { kind, positions } of chainsOf(geometry))
    vertices += positions.length - (kind === 'ring' ? 1 : 0);
  if (vertices > maxVertices) return excess([], 'has more than 50,000 vertices');
  for (const { kind, positions, at } of chainsOf(geometry)) {
    if (kind !== 'ring' || positions.length - 1 <= fewEdges) continue;
    if (countSelfCrossings(positions, maxSelfCrossings) > maxSelfCrossings)
      return excess(at, `crosses itself more than ${maxSelfCrossings} times`);
  }
  return undefined;
}

function excess(at: (string | number)[], message: string): GeometryFault {
  return { code: 'SCH_SCHEMA_VALIDATION_FAILED', at, message };
}

/** The maximum of pairs of edges compared to relate stored geometries to that of a query. Comparing a point with an edge takes a tenth of the time. */
export function countPairs(operator: SpatialOperator, query: Geometry, stored: readonly Geometry[]): number {
  const asked = weigh(query);
  const [weights, pairsOf] = [stored.map(weigh), (edges: number) => (edges * (edges - 1)) / 2];
  let pairs = 0;
  for (const { edges, points } of weights) pairs += (edges + points / 10) * (asked.edges + asked.points / 10);
  const met = weights.filter(({ edges }) => edges > 0);
  if (operator === 'S_DWITHIN' || asked.edges === 0 || met.length === 0) return pairs;
  // Edges of one geometry may also meet each other; the distance does not depend on that.
  return pairs + pairsOf(asked.edges) + met.reduce((sum, { edges }) => sum + pairsOf(edges), 0);
}

function weigh(geometry: Geometry): { edges: number; points: number } {
  const weight = { edges: 0, points: 0 };
  for (const { kind, positions } of chainsOf(geometry)) {
    if (kind === 'points') weight.points += positions.length;
    else weight.edges += positions.length - 1;
  }
  return weight;
}

interface Chain {
  kind: 'points' | 'line' | 'ring';
  positions: Position[];
  at: (string | number)[];
}

function* chainsOf(geometry: Geometry, above: (string | number)[] = []): Generator<Chain> {
  if (geometry.type === 'GeometryCollection') {
    for (const [index, each] of geometry.geometries.entries())
      yield* chainsOf(each, [...above, 'geometries', index]);
    return;
  }
  const at = [...above, 'coordinates'];
  const { type, coordinates } = geometry;
  if (type === 'Point') yield { kind: 'points', positions: [coordinates], at };
  if (type === 'MultiPoint') yield { kind: 'points', positions: coordinates, at };
  if (type === 'LineString') yield { kind: 'line', positions: coordinates, at };
  if (type === 'MultiLineString') yield* each('line', coordinates, at);
  if (type === 'Polygon') yield* each('ring', coordinates, at);
  if (type === 'MultiPolygon')
    for (const [index, rings] of coordinates.entries()) yield* each('ring', rings, [...at, index]);
}

function* each(kind: Chain['kind'], lists: Position[][], at: Chain['at']): Generator<Chain> {
  for (const [index, positions] of lists.entries()) yield { kind, positions, at: [...at, index] };
}
