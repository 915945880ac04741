import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { prepareDistance } from '../../rules/geometry/distance.ts';
import { prepareQuery } from '../../rules/geometry/predicate.ts';
import type { Search } from '../candidates.ts';
import { runInThread } from '../deadline.ts';
import { findLargeText } from './query-geometry.ts';
import type { StoredGeometry } from './read-geometries.ts';

/** What a constraint says of a stored geometry. */
export interface Judgement {
  holds: boolean;
  /** Metres, for S_DWITHIN. */
  distance?: number;
}

/** More than so many characters of stored geometry are judged in a thread. */
const maxInlineShapes = 200_000;

/** Judges stored geometries, in the given order. */
export async function judge(
  search: Search,
  constraint: SpatialConstraint,
  stored: readonly Stored[],
): Promise<Judgement[]> {
  search.deadline.check();
  const largeText = findLargeText(constraint);
  const isShort = stored.reduce((sum, { shape }) => sum + shape.length, 0) <= maxInlineShapes;
  if (largeText === undefined && isShort) return stored.map(readOnce).map(prepare(constraint));
  return runInThread<Judgement[]>(search, 'spatialMs', {
    module: import.meta.url,
    name: judgeShapes.name,
    input: {
      constraint: largeText === undefined ? constraint : { ...constraint, geometry: largeText },
      shapes: stored.map(({ shape }) => shape),
    } satisfies Question,
  });
}

type Stored = Pick<StoredGeometry, 'shape' | 'geometry'>;

/** A cached geometry is judged again and again: it is parsed once. Most are points. */
function readOnce(stored: Stored): Geometry {
  if (stored.shape.length > maxKnownShape) return JSON.parse(stored.shape);
  stored.geometry ??= JSON.parse(stored.shape) as Geometry;
  return stored.geometry;
}

const maxKnownShape = 200;

interface Question {
  constraint: Omit<SpatialConstraint, 'geometry'> & { geometry: Geometry | string };
  shapes: string[];
}

/** The same in a thread, of GeoJSON texts. */
export function judgeShapes({ constraint, shapes }: Question): Judgement[] {
  const { geometry } = constraint;
  const say = prepare({
    ...constraint,
    geometry: typeof geometry === 'string' ? JSON.parse(geometry) : geometry,
  });
  return shapes.map((shape) => say(JSON.parse(shape)));
}

function prepare({
  operator,
  geometry,
  distanceMeters = 0,
}: SpatialConstraint): (stored: Geometry) => Judgement {
  if (operator !== 'S_DWITHIN') {
    const holds = prepareQuery(operator, geometry);
    return (stored) => ({ holds: holds(stored) });
  }
  const measure = prepareDistance(geometry);
  return (stored) => {
    const distance = measure(stored);
    return { holds: distance <= distanceMeters, distance };
  };
}
