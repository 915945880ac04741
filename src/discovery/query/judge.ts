import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import { prepareDistance } from '../../rules/geometry/distance.ts';
import { prepareQuery } from '../../rules/geometry/predicate.ts';
import type { Search } from './candidates.ts';

/** What a constraint says of a stored geometry. */
export interface Judgement {
  holds: boolean;
  /** Metres, for S_DWITHIN. */
  distance?: number;
}

/** More than so many characters of geometry, asked or stored, are judged in a thread. */
const maxInlineQuery = 5_000;
const maxInlineShapes = 200_000;

/** Judges stored geometries, GeoJSON texts, in the given order. */
export async function judge(
  { threads, deadline }: Search,
  constraint: SpatialConstraint,
  shapes: string[],
): Promise<Judgement[]> {
  deadline.check();
  const isShort =
    JSON.stringify(constraint.geometry).length <= maxInlineQuery &&
    shapes.reduce((sum, { length }) => sum + length, 0) <= maxInlineShapes;
  if (isShort) return judgeShapes({ constraint, shapes });
  return threads.run<Judgement[]>({
    module: import.meta.url,
    name: judgeShapes.name,
    input: { constraint, shapes },
    deadlineMs: deadline.remainingMs(),
  });
}

/** Runs here or in a thread. */
export function judgeShapes({
  constraint,
  shapes,
}: {
  constraint: SpatialConstraint;
  shapes: string[];
}): Judgement[] {
  const say = prepare(constraint);
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
