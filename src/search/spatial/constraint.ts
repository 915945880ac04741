import type { Search } from '../candidates.ts';
import type { SpatialPlan } from '../plan.ts';
import { type Nearby, type Region, readGeometries, type StoredGeometry } from './read-geometries.ts';

/** A spatial constraint, with the region in which geometries can satisfy it. */
export interface LocatedConstraint extends SpatialPlan {
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

/** Those of some keys that say whether they satisfy the constraint. A radius reaches none but those that were found around its middle. */
export async function findGeometries(
  { database }: Search,
  { constraint, paths, nearby }: LocatedConstraint,
  keys: Iterable<number>,
): Promise<Pick<StoredGeometry, 'key' | 'shape'>[]> {
  const wanted = new Set(keys);
  if (nearby && isAll(nearby) && constraint.quantifier === 'ANY')
    return nearby.geometries.filter(({ key }) => wanted.has(key));
  return readGeometries(database, [...wanted], paths);
}
