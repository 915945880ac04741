import type { SpatialPlan } from '../plan.ts';
import type { Nearby, Region } from './read-geometries.ts';

/** A constraint with where to look for what can satisfy it. */
export interface PlacedConstraint extends SpatialPlan {
  region: Region;
  /** How many geometries are there, as far as was counted; undefined where none of the paths is indexed. */
  count?: number;
  /** The nearest ones, where it is a radius: so many as were looked for, or all. */
  nearby?: Nearby;
  looked?: number;
}

export function isRadius({ constraint }: SpatialPlan): boolean {
  return constraint.operator === 'S_DWITHIN';
}

/** Whether there are no others within the radius. */
export function isAll({ reach }: Nearby): boolean {
  return reach === Number.POSITIVE_INFINITY;
}
