import { addTo } from '../../group.ts';
import { quantify } from '../../rules/discover/quantify.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import { findOffers } from '../documents/offers.ts';
import type { Standing } from '../order.ts';
import type { PlacedConstraint } from './constraint.ts';
import { findGeometries } from './find-geometries.ts';
import { roots } from './geometry-paths.ts';
import { type Judgement, judge } from './judge.ts';
import { addPlaces, tallyOf, type WidePlaces } from './offer-geometries.ts';

/**
 * Which resources satisfy all spatial constraints. What concerns a resource are its own geometries, its provider's, and those of the offers
 * that apply to it now. The first radius gives the distance: that of the nearest geometry.
 */
export async function checkPlaces(
  search: Search,
  placed: readonly PlacedConstraint[],
  keys: readonly number[],
  wide: WidePlaces,
): Promise<Standing[]> {
  let left = keys.map((key): Standing => ({ key }));
  const holders = await holdersOf(search, placed, left);
  for (const each of placed) {
    if (left.length === 0) return left;
    if (asksOffers(each))
      await wide.read(
        each,
        left.map(({ key }) => catalogKeyOf(key)),
      );
    left = await checkOne(search, each, left, { holders, wide });
  }
  return left;
}

function asksOffers({ paths }: PlacedConstraint): boolean {
  return paths.some((path) => path.startsWith(roots.offer));
}

/** The keys under which the geometries of each resource stand, apart from those of wide offers. */
async function holdersOf(
  { database, plan }: Search,
  placed: readonly PlacedConstraint[],
  standings: readonly Standing[],
): Promise<Map<number, number[]>> {
  const holders = new Map(standings.map(({ key }) => [key, [key, keyOf(catalogKeyOf(key), 0)]]));
  if (placed.some(asksOffers)) {
    for (const { key, resources } of await findOffers(database, [...holders.keys()], plan.gate))
      for (const resource of resources) holders.get(resource)?.push(key);
  }
  return holders;
}

async function checkOne(
  search: Search,
  placed: PlacedConstraint,
  standings: readonly Standing[],
  { holders, wide }: { holders: ReadonlyMap<number, readonly number[]>; wide: WidePlaces },
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
    const tally = addPlaces(tallyOf(about), wide.find(placed, catalogKeyOf(standing.key)));
    if (!quantify(constraint.quantifier, tally)) return [];
    if (tally.distance === Number.POSITIVE_INFINITY || standing.distance !== undefined) return [standing];
    return [{ ...standing, distance: tally.distance }];
  });
}
