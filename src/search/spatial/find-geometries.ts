import type { Search } from '../candidates.ts';
import { isAll, type PlacedConstraint } from './constraint.ts';
import { readGeometries, type StoredGeometry } from './read-geometries.ts';

/** Those of some keys that say whether they satisfy the constraint. A radius reaches none but those that were found around its middle. */
export async function findGeometries(
  { database }: Search,
  { constraint, paths, nearby }: PlacedConstraint,
  keys: Iterable<number>,
): Promise<Pick<StoredGeometry, 'key' | 'shape'>[]> {
  const wanted = new Set(keys);
  if (nearby && isAll(nearby) && constraint.quantifier === 'ANY')
    return nearby.geometries.filter(({ key }) => wanted.has(key));
  return readGeometries(database, [...wanted], paths);
}
