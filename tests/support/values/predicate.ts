import type { SpatialOperator } from '../../../src/protocol/discover-messages.ts';
import type { Geometry } from '../../../src/protocol/geojson.ts';
import { distanceBetween } from '../../../src/rules/geometry/distance.ts';
import { prepareQuery } from '../../../src/rules/geometry/predicate.ts';

/** predicate(stored geometry, query geometry). Only S_DWITHIN uses the distance. */
export function predicate(
  operator: SpatialOperator,
  stored: Geometry,
  query: Geometry,
  distanceMeters = 0,
): boolean {
  if (operator === 'S_DWITHIN') return distanceBetween(stored, query) <= distanceMeters;
  return prepareQuery(operator, query)(stored);
}
