import { arrange } from './arrangement.ts';
import type { Figure } from './figure.ts';
import { lookAround } from './look-around.ts';
import { boundary, exterior, interior, type Relation, raise, transpose, unrelated } from './relation.ts';
import type { Spot } from './spot.ts';

export function relate(first: Figure, second: Figure): Relation {
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
