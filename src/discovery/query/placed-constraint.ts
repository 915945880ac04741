import type { NearbyGeometry, Region } from '../../storage/discovery-geometries.ts';
import type { SpatialPlan } from './plan.ts';

/** A constraint with where to look for what can satisfy it. */
export interface PlacedConstraint extends SpatialPlan {
  region: Region;
  /** How many geometries are there, as far as was counted; undefined where none of the paths is indexed. */
  count?: number;
  /** The nearest ones, where it is a radius: so many, or all. */
  nearby?: NearbyGeometry[];
  looked?: number;
  isAllNearby?: boolean;
}

export function isRadius({ constraint }: SpatialPlan): boolean {
  return constraint.operator === 'S_DWITHIN';
}
