import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import { queryBox } from '../../rules/geometry/sphere-box.ts';
import { countGeometries, type Region } from '../../storage/discovery-geometries.ts';
import { listGeometryPaths } from '../../storage/discovery-index.ts';
import { checkPlaces } from './check-places.ts';
import type { SpatialPlan } from './plan.ts';
import { proposePlaces } from './propose-places.ts';
import { type Proposal, type Search, selectiveCount } from './search.ts';
import type { Standing } from './standing.ts';

/** The spatial constraints of an intent over the stored geometries: one of them proposes, all of them check. */
export interface SpatialSearch extends Proposal {
  /** Nothing is indexed under the targets of some constraint: it yields nothing (catalog spec: POST /discover, targets). */
  isNowhere: boolean;
  hasDistance: boolean;
  /** Those that satisfy all constraints, with their distances. */
  check(standings: readonly Standing[]): Promise<Standing[]>;
}

/** A constraint with where to look for what can satisfy it. */
export interface PlacedConstraint extends SpatialPlan {
  /** One for each path that is indexed. */
  regions: Region[];
}

export async function prepareSpatial(search: Search): Promise<SpatialSearch> {
  const known = await listGeometryPaths(search.database);
  const placed = search.plan.spatial.map((spatial) => place(spatial, known));
  const isNowhere = placed.some(({ regions }) => regions.length === 0);
  // A single radius alone proposes the nearest first, however many there are.
  const isAlone = placed.length === 1 && search.plan.filter === undefined && search.plan.text === undefined;
  const estimates = isNowhere
    ? []
    : isAlone && hasRadius(placed)
      ? [selectiveCount + 1]
      : await estimate(search, placed);
  const least = Math.min(...estimates);
  const radius = placed.find(({ constraint }) => constraint.operator === 'S_DWITHIN');
  // Of many, only the radius that orders the answer can propose the first ones.
  const selective = placed[estimates.indexOf(least)];
  const lead = least <= selectiveCount ? selective : (radius ?? selective);
  note(search, placed, estimates, known);
  return {
    by: `place: ${lead?.constraint.operator}`,
    estimate: least,
    isNowhere,
    hasDistance: radius !== undefined,
    async *batches() {
      if (lead) yield* proposePlaces(search, lead);
    },
    async check(standings) {
      const isChecked = standings.every(({ proposedBy }) => placed.length === 1 && isDecidedBy(proposedBy));
      return isChecked ? [...standings] : checkPlaces(search, placed, standings);
    },
  };
}

function hasRadius(placed: readonly PlacedConstraint[]): boolean {
  return placed.some(({ constraint }) => constraint.operator === 'S_DWITHIN');
}

function place(spatial: SpatialPlan, known: readonly { id: number; path: string }[]): PlacedConstraint {
  const { operator, geometry, distanceMeters, quantifier } = spatial.constraint;
  // NONE is satisfied by what is far away.
  const box = quantifier === 'NONE' ? undefined : queryBox(operator, geometry, distanceMeters);
  const paths = new Set(spatial.paths);
  return {
    ...spatial,
    regions: known
      .filter(({ path }) => paths.has(path))
      .map(({ id }) => ({ pathId: id, ...(box && { box }) })),
  };
}

/** How many geometries each constraint would propose, as far as it matters. */
async function estimate({ database, trace }: Search, placed: readonly PlacedConstraint[]): Promise<number[]> {
  const regions = placed.flatMap((each) => each.regions);
  const counts = await trace.time('count geometries', () =>
    countGeometries(database, regions, selectiveCount + 1),
  );
  let next = 0;
  return placed.map((each) => each.regions.reduce((sum) => sum + (counts[next++] ?? 0), 0));
}

/** One geometry that satisfies ANY is enough; for ALL and NONE, the others have to be seen. */
function isDecidedBy(constraint: SpatialConstraint | undefined): boolean {
  return constraint?.quantifier === 'ANY';
}

function note(
  { trace, reportUnknown }: Search,
  placed: readonly PlacedConstraint[],
  estimates: readonly number[],
  known: readonly { path: string }[],
): void {
  for (const [index, { constraint, regions }] of placed.entries()) {
    trace.note('place', {
      operator: constraint.operator,
      quantifier: constraint.quantifier,
      targets: constraint.targets,
      index: regions.some(({ box }) => box) ? 'boxes' : 'paths',
      geometries: estimates[index] ?? 0,
    });
    if (regions.length === 0)
      reportUnknown(
        constraint.targets,
        known.map(({ path }) => path),
      );
  }
}
