import type { SpatialOperator } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { arrange } from './arrangement.ts';
import { boxesMeet, Figure } from './figure.ts';
import { lookAround } from './look-around.ts';
import { boundary, exterior, interior, type Relation, raise, transpose, unrelated } from './relation.ts';
import type { Spot } from './spot.ts';

// The spatial operators of discover: the predicates of OGC Simple Features, with edges straight in longitude and latitude; S_DWITHIN measures along
// great circles (distance). A polygon is everything inside an odd number of its rings, valid or not.
//
// A geometry becomes points, lines and areas, unwrapped across the date line (shape, unwrap), with its edges indexed by longitude (figure, edges).
// The overlay of two (arrangement), by exact predicates (spot), gives their relation, and each operator is a pattern of it.

type Topological = Exclude<SpatialOperator, 'S_DWITHIN'>;

/** The predicate of a query for many stored geometries. */
export function prepareQuery(operator: Topological, query: Geometry): (stored: Geometry) => boolean {
  const figure = new Figure(query);
  const holds = relationOf[operator];
  return (stored) => {
    const other = new Figure(stored);
    return boxesMeet(other.box, figure.box) ? holds(relate(other, figure)) : operator === 'S_DISJOINT';
  };
}

const relationOf: Record<Topological, (relation: Relation) => boolean> = {
  S_INTERSECTS: intersects,
  S_DISJOINT: (relation) => !intersects(relation),
  S_WITHIN: ([ii, , ie, , , be]) => has(ii) && !has(ie) && !has(be),
  S_CONTAINS: ([ii, , , , , , ei, eb]) => has(ii) && !has(ei) && !has(eb),
  S_OVERLAPS: overlaps,
  S_CROSSES: crosses,
  S_TOUCHES: ([ii, ib, , bi, bb]) => !has(ii) && (has(ib) || has(bi) || has(bb)),
  S_EQUALS: ([ii, , ie, , , be, ei, eb]) => has(ii) && !has(ie) && !has(be) && !has(ei) && !has(eb),
};

function intersects([ii, ib, , bi, bb]: Relation): boolean {
  return has(ii) || has(ib) || has(bi) || has(bb);
}

/** Same dimension, neither inside the other; lines must share more than points. */
function overlaps(relation: Relation): boolean {
  const [ii, , ie, , , , ei] = relation;
  const [first, second] = dimensions(relation);
  return first === second && (first === 1 ? ii === 1 : has(ii)) && has(ie) && has(ei);
}

/** The shared part has a lower dimension than the greater, and the lesser is partly outside. */
function crosses(relation: Relation): boolean {
  const [ii = -1, , ie, , , , ei] = relation;
  const [first, second] = dimensions(relation);
  if (first === second) return first === 1 && ii === 0;
  return has(ii) && has(first < second ? ie : ei);
}

/** An interior consists of its shares of the other's interior, boundary and exterior. */
function dimensions([ii = -1, ib = -1, ie = -1, bi = -1, , , ei = -1]: Relation): [number, number] {
  return [Math.max(ii, ib, ie), Math.max(ii, bi, ei)];
}

function has(dimension: number | undefined): boolean {
  return dimension !== undefined && dimension >= 0;
}

function relate(first: Figure, second: Figure): Relation {
  const quick = first.bodyDimension < 0 ? relatePoints(first, second) : swapped(first, second);
  return quick ?? arrange(first, second);
}

function swapped(first: Figure, second: Figure): Relation | undefined {
  const relation = second.bodyDimension < 0 ? relatePoints(second, first) : undefined;
  return relation && transpose(relation);
}

/** Only points, against anything. Undefined if one is on an edge: then the edges around it are needed. */
function relatePoints({ points }: Figure, other: Figure): Relation | undefined {
  const relation = unrelated();
  for (const point of points) {
    const { first, onArea, onLine } = lookAround(other.index, point);
    if (onArea || onLine || (isPole(point) && touchesPole(other, point))) return undefined;
    raise(relation, interior, first || includes(other.points, point) ? interior : exterior, 0);
  }
  if (other.bodyDimension >= 0) {
    raise(relation, exterior, interior, other.bodyDimension);
    raise(relation, exterior, boundary, other.bodyDimension - 1);
    return relation;
  }
  for (const point of other.points) {
    raise(relation, includes(points, point) ? interior : exterior, interior, 0);
  }
  return relation;
}

function includes(points: readonly Spot[], { lon, y }: Spot): boolean {
  return points.some((point) => point.y === y && (point.lon === lon || Math.abs(y) === 90));
}

function isPole({ y }: Spot): boolean {
  return Math.abs(y) === 90;
}

function touchesPole({ index }: Figure, { y }: Spot): boolean {
  return index.edges.some(({ a, b }) => a.y === y || b.y === y);
}
