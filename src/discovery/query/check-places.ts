import { addTo } from '../../group.ts';
import { quantify } from '../../rules/discover/quantify.ts';
import { readGeometries, type StoredGeometry } from '../../storage/discovery-geometries.ts';
import { catalogKeyOf, keyOf } from '../../storage/discovery-keys.ts';
import { findOffers } from '../../storage/discovery-offers.ts';
import { roots } from '../geometries.ts';
import type { Search } from './candidates.ts';
import { type Judgement, judge } from './judge.ts';
import { isAll, type PlacedConstraint } from './placed-constraint.ts';
import type { Standing } from './standing.ts';

/**
 * Which resources satisfy all spatial constraints. What concerns a resource are its own geometries, its provider's, and those of the offers
 * that apply to it now. The first radius gives the distance: that of the nearest geometry.
 */
export async function checkPlaces(
  search: Search,
  placed: readonly PlacedConstraint[],
  keys: readonly number[],
): Promise<Standing[]> {
  let left = keys.map((key): Standing => ({ key }));
  const holders = await holdersOf(search, placed, left);
  for (const each of placed) {
    if (left.length === 0) return left;
    left = await checkOne(search, each, left, holders);
  }
  return left;
}

/** The keys under which the geometries of each resource stand. */
async function holdersOf(
  { database, plan }: Search,
  placed: readonly PlacedConstraint[],
  standings: readonly Standing[],
): Promise<Map<number, number[]>> {
  const holders = new Map(standings.map(({ key }) => [key, [key, keyOf(catalogKeyOf(key), 0)]]));
  const asksOffers = placed.some(({ paths }) => paths.some((path) => path.startsWith(roots.offer)));
  if (asksOffers) {
    for (const { resource_key, offer_key } of await findOffers(database, [...holders.keys()], plan.gate)) {
      holders.get(resource_key)?.push(offer_key);
    }
  }
  return holders;
}

async function checkOne(
  search: Search,
  placed: PlacedConstraint,
  standings: readonly Standing[],
  holders: ReadonlyMap<number, readonly number[]>,
): Promise<Standing[]> {
  const { constraint } = placed;
  const stored = await findGeometries(
    search,
    placed,
    standings.flatMap(({ key }) => holders.get(key) ?? []),
  );
  const judgements = await judge(search, constraint, stored);
  const byKey = new Map<number, Judgement[]>();
  for (const [index, { key }] of stored.entries()) {
    const judgement = judgements[index];
    if (judgement) addTo(byKey, key, judgement);
  }
  return standings.flatMap((standing) => {
    const about = (holders.get(standing.key) ?? []).flatMap((key) => byKey.get(key) ?? []);
    const results = about.map(({ holds }) => holds);
    if (!quantify(constraint.quantifier, results)) return [];
    const distances = about.flatMap(({ distance }) => distance ?? []);
    if (distances.length === 0 || standing.distance !== undefined) return [standing];
    return [{ ...standing, distance: Math.min(...distances) }];
  });
}

/** Those of some keys that say whether they satisfy the constraint. A radius reaches none but those that were found around its middle. */
async function findGeometries(
  { database }: Search,
  { constraint, paths, nearby }: PlacedConstraint,
  keys: readonly number[],
): Promise<Pick<StoredGeometry, 'key' | 'shape'>[]> {
  const wanted = new Set(keys);
  if (nearby && isAll(nearby) && constraint.quantifier === 'ANY')
    return nearby.geometries.filter(({ key }) => wanted.has(key));
  return readGeometries(database, [...wanted], paths);
}
