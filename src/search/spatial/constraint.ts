import { addTo } from '../../group.ts';
import type { Search } from '../candidates.ts';
import type { SpatialPlan } from '../plan.ts';
import { type Judgement, judge } from './judge.ts';
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

/** What a constraint says of the geometries under some keys, by key. */
export async function judgeKeys(
  search: Search,
  located: LocatedConstraint,
  keys: Iterable<number>,
): Promise<Map<number, Judgement[]>> {
  const stored = await findGeometries(search, located, keys);
  const judgements = await judge(search, located.constraint, stored);
  const byKey = new Map<number, Judgement[]>();
  for (const [index, judgement] of judgements.entries()) addTo(byKey, stored[index]?.key ?? 0, judgement);
  return byKey;
}

/** The geometries that decide on a constraint. A radius reaches none but those that were found around its middle. */
async function findGeometries(
  { database }: Search,
  { constraint, paths, nearby }: LocatedConstraint,
  keys: Iterable<number>,
): Promise<Pick<StoredGeometry, 'key' | 'shape'>[]> {
  const wanted = new Set(keys);
  if (nearby && isAll(nearby) && constraint.quantifier === 'ANY')
    return nearby.geometries.filter(({ key }) => wanted.has(key));
  return readGeometries(database, [...wanted], paths);
}
