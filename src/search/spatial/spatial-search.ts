import { queryBoxAround } from '../../rules/geometry/sphere-box.ts';
import { limitSelective, type Proposal, type Search, streamOnce } from '../candidates.ts';
import type { Hit } from '../order.ts';
import type { SpatialPlan } from '../plan.ts';
import { checkGeometries } from './check.ts';
import { findBox, isRadius, type LocatedConstraint } from './constraint.ts';
import { roots } from './geometry-paths.ts';
import { OfferGeometries } from './offer-geometries.ts';
import { limitFirstLook, proposeByGeometries } from './propose.ts';
import { countRegion, isAll, readNearby } from './read-geometries.ts';

/** The spatial constraints of an intent over the stored geometries: one of them proposes, all of them check. Where one has no geometries, nothing satisfies all. */
export interface SpatialSearch extends Proposal {
  hasDistance: boolean;
  /** What is proposed satisfies everything, and comes in the order of the answer. */
  isDecided: boolean;
  located: readonly LocatedConstraint[];
  /** Those that satisfy all constraints, with their distances. */
  check(keys: readonly number[]): Promise<Hit[]>;
}

/** `isCounted`: false where another index proposes, and nothing has to be known of how many there are. */
export async function prepareSpatial(search: Search, { isCounted = true } = {}): Promise<SpatialSearch> {
  const located = await Promise.all(
    search.plan.spatial.map(async (spatial) => {
      const place = await locateConstraint(search, spatial);
      return isCounted ? countConstraint(search, place) : place;
    }),
  );
  if (isCounted) traceConstraints(search, located);
  const estimate = Math.min(...located.map(({ count }) => count));
  const radius = located.find(isRadius);
  // Of many, only the radius that orders the answer can propose the first ones.
  const selective = located.find(({ count }) => count === estimate);
  const lead = estimate <= limitSelective(search.plan) ? selective : (radius ?? selective);
  const wide = new OfferGeometries(search);
  return {
    by: `place: ${lead?.constraint.operator}`,
    estimate,
    hasDistance: radius !== undefined,
    located,
    isDecided: located.length === 1 && located.every(isDecidedByOne),
    open: async () => ({
      keys: lead ? proposeByGeometries(search, lead) : streamOnce([]),
      check: search.plan.filter?.checkBeside([]),
    }),
    check: (keys) => checkGeometries(search, located, keys, wide),
  };
}

async function locateConstraint(search: Search, spatial: SpatialPlan): Promise<LocatedConstraint> {
  const { operator, distanceMeters, quantifier } = spatial.constraint;
  // NONE is satisfied by what is far away.
  const around = await findBox(search, spatial);
  const box = quantifier === 'NONE' ? undefined : queryBoxAround(operator, around, distanceMeters);
  const region = { paths: spatial.paths, ...(box && { box }) };
  return { ...spatial, around, region, count: Number.POSITIVE_INFINITY };
}

async function countConstraint(search: Search, located: LocatedConstraint): Promise<LocatedConstraint> {
  const { plan, database, trace } = search;
  const { region, around } = located;
  const many = limitSelective(plan) + 1;
  const countAll = () => trace.time('count geometries', () => countRegion(database, region, many));
  if (!isRadius(located)) return { ...located, count: await countAll() };
  const nearby = await trace.time('look around', () =>
    readNearby(database, region, around, limitFirstLook(plan)),
  );
  if (isAll(nearby)) return { ...located, count: nearby.geometries.length, nearby };
  // The nearest come first, so that it matters only to a text how many there are.
  const count = plan.text === undefined ? many : await countAll();
  return { ...located, count, nearby };
}

/**
 * For ALL and NONE, all geometries of a resource have to be seen; and what stands at several levels is found more than once. So is what stands in
 * offers: of some resources, and of whole catalogs.
 */
function isDecidedByOne({ constraint, paths }: SpatialPlan): boolean {
  const levels = Object.values(roots).filter((root) => paths.some((path) => path.startsWith(root)));
  return constraint.quantifier === 'ANY' && levels.length === 1 && levels[0] !== roots.offer;
}

function traceConstraints(search: Search, located: readonly LocatedConstraint[]): void {
  for (const { constraint, region, count } of located) {
    search.trace.note('place', {
      operator: constraint.operator,
      quantifier: constraint.quantifier,
      targets: constraint.targets,
      index: region.box ? 'boxes' : 'paths',
      geometries: count,
    });
  }
}
