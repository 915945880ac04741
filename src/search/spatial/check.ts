import { quantify } from '../../rules/discover/quantify.ts';
import type { Search } from '../candidates.ts';
import { catalogKeyOf, keyOf } from '../documents/keys.ts';
import { findOffers } from '../documents/offers.ts';
import type { Hit } from '../order.ts';
import { addTallies, judgeKeys, type LocatedConstraint } from './constraint.ts';
import { roots } from './geometry-paths.ts';
import type { OfferGeometries } from './offer-geometries.ts';

/**
 * Finds the resources that satisfy all spatial constraints. A resource has its own geometries, those of its provider, and those of the offers that apply
 * to it now. Its distance is that of its nearest geometry, by the first constraint that is a radius.
 */
export async function checkGeometries(
  search: Search,
  located: readonly LocatedConstraint[],
  keys: readonly number[],
  wide: OfferGeometries,
): Promise<Hit[]> {
  let left = keys.map((key): Hit => ({ key }));
  const holders = await holdersOf(search, located, left);
  for (const each of located) {
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

function asksOffers({ paths }: LocatedConstraint): boolean {
  return paths.some((path) => path.startsWith(roots.offer));
}

/** The keys under which the geometries of each resource stand, apart from those of wide offers. */
async function holdersOf(
  { database, plan }: Search,
  located: readonly LocatedConstraint[],
  hits: readonly Hit[],
): Promise<Map<number, number[]>> {
  const holders = new Map(hits.map(({ key }) => [key, [key, keyOf(catalogKeyOf(key), 0)]]));
  if (located.some(asksOffers)) {
    for (const { key, resources } of await findOffers(database, [...holders.keys()], plan.scope))
      for (const resource of resources) holders.get(resource)?.push(key);
  }
  return holders;
}

async function checkOne(
  search: Search,
  located: LocatedConstraint,
  hits: readonly Hit[],
  { holders, wide }: { holders: ReadonlyMap<number, readonly number[]>; wide: OfferGeometries },
): Promise<Hit[]> {
  const byKey = await judgeKeys(
    search,
    located,
    hits.flatMap(({ key }) => holders.get(key) ?? []),
  );
  return hits.flatMap((hit) => {
    const about = (holders.get(hit.key) ?? []).flatMap((key) => byKey.get(key) ?? []);
    const tally = about.reduce(addTallies, wide.find(located, catalogKeyOf(hit.key)));
    if (!quantify(located.constraint.quantifier, tally)) return [];
    if (tally.distance === Number.POSITIVE_INFINITY || hit.distance !== undefined) return [hit];
    return [{ ...hit, distance: tally.distance }];
  });
}
