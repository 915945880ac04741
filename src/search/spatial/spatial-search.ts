import { queryBoxAround } from '../../rules/geometry/sphere-box.ts';
import { limitSelective, type Proposal, type Search, streamOnce } from '../candidates.ts';
import type { Hit } from '../order.ts';
import type { SpatialPlan } from '../plan.ts';
import { checkGeometries } from './check.ts';
import { isAll, isRadius, type LocatedConstraint } from './constraint.ts';
import { roots } from './geometry-paths.ts';
import { countGeometries, findNearby } from './look-around.ts';
import { OfferGeometries } from './offer-geometries.ts';
import { limitFirstLook, proposeByGeometries } from './propose.ts';
import { findBox } from './query-geometry.ts';

/** The spatial constraints of an intent over the stored geometries: one of them proposes, all of them check. */
export interface SpatialSearch extends Proposal {
  /** Nothing is indexed under the targets of some constraint: it yields nothing (catalog spec: POST /discover, targets). */
  isNowhere: boolean;
  hasDistance: boolean;
  /** What is proposed satisfies everything, and comes in the order of the answer. */
  isDecided: boolean;
  /** Those that satisfy all constraints, with their distances. */
  check(keys: readonly number[]): Promise<Hit[]>;
}

export async function prepareSpatial(search: Search): Promise<SpatialSearch> {
  const located = await Promise.all(search.plan.spatial.map((spatial) => prepareConstraint(search, spatial)));
  const isNowhere = located.some(({ count }) => count === undefined);
  traceConstraints(search, located);
  const estimate = Math.min(...located.map(({ count = 0 }) => count));
  const radius = located.find(isRadius);
  // Of many, only the radius that orders the answer can propose the first ones.
  const selective = located.find(({ count }) => count === estimate);
  const lead = estimate <= limitSelective(search.plan) ? selective : (radius ?? selective);
  const wide = new OfferGeometries(search);
  return {
    by: `place: ${lead?.constraint.operator}`,
    estimate,
    isNowhere,
    hasDistance: radius !== undefined,
    isDecided: located.length === 1 && located.every(isDecidedByOne),
    open: async () => ({
      keys: lead ? proposeByGeometries(search, lead) : streamOnce([]),
      check: search.plan.filter?.checkBeside([]),
    }),
    check: (keys) => checkGeometries(search, located, keys, wide),
  };
}

async function prepareConstraint(search: Search, spatial: SpatialPlan): Promise<LocatedConstraint> {
  const { plan, database, trace } = search;
  const { operator, distanceMeters, quantifier } = spatial.constraint;
  // NONE is satisfied by what is far away.
  const around = await findBox(search, spatial.constraint);
  const box = quantifier === 'NONE' ? undefined : queryBoxAround(operator, around, distanceMeters);
  const region = { paths: spatial.paths, ...(box && { box }) };
  const many = limitSelective(plan) + 1;
  const countAll = () => trace.time('count geometries', () => countGeometries(database, region, many));
  if (!isRadius(spatial)) return { ...spatial, region, count: await countAll() };
  const looked = limitFirstLook(plan);
  const nearby = await trace.time('look around', () => findNearby(database, region, around, looked));
  if (nearby === undefined) return { ...spatial, region };
  if (isAll(nearby)) return { ...spatial, region, count: nearby.geometries.length, nearby, looked };
  // The nearest come first, so that it matters only to a text how many there are.
  const count = plan.text === undefined ? many : await countAll();
  return { ...spatial, region, count, nearby, looked };
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
      geometries: count ?? 0,
    });
  }
}
