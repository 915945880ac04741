import { quantify } from '../../rules/discover/quantify.ts';
import { earthRadiusMeters } from '../../rules/geometry/sphere.ts';
import { queryBoxAround } from '../../rules/geometry/sphere-box.ts';
import { headsOf, listMembers } from '../documents/members.ts';
import { readCovering } from '../documents/own-offers.ts';
import { roots } from '../entries/geometry-paths.ts';
import { type Hit, hitsOf, keysOfHits, sortHits } from '../hit.ts';
import { headOf, kindOf } from '../keys.ts';
import { checkedBy, type DocSet, readAll } from '../set/doc-set.ts';
import { inBatches, type Keys, keysOf, noKeys, union } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import {
  addTallies,
  findBox,
  type GeometryTally,
  isRadius,
  judgeKeys,
  type LocatedConstraint,
  noGeometries,
  type SpatialPlan,
} from './constraint.ts';
import { countRegion, listLocatedOffers, type Nearby, readNearby, readRegion } from './read-geometries.ts';

// The place of an intent: all its spatial constraints over the stored geometries. A resource has its own geometries, those of its provider, and those of its catalog's offers that cover it now. The index of boxes leads
// to the keys of what may satisfy a constraint; the geometries of those that passed everything else are read, and decide.

export interface Place {
  /** Geometries in the most selective region, as far as they were counted. */
  estimate: number;
  hasDistance: boolean;
  /** All resources that may satisfy the most selective constraint. */
  candidates(): Promise<Keys>;
  /** The resources that satisfy all constraints, in the order of keys. */
  set(): DocSet;
  /** The same, the nearest first, of those that `select` keeps. */
  nearest(select: (keys: Keys) => Promise<Keys>): AsyncGenerator<Hit[]>;
  /** Those of some resources that satisfy all constraints, with their distances. */
  check(keys: Keys): Promise<Hit[]>;
}

/** Geometries of the first look around: alone, the nearest are enough for an answer; beside other parts, all of few are held against those. */
const firstLook = { alone: 400, besideOthers: 1_000 };
/** A longer look around starts again: each is so many times the one before. */
const growth = 4;
/** Geometries of a region that are read at a time, in the order of keys. */
const regionAtOnce = 1_600;
/** Resources that are checked at a time: a catalog may have many more. */
const checkedAtOnce = 2_000;

interface PlaceOptions {
  /** The intent has other parts. */
  isBesideOthers: boolean;
  /** Geometries that are counted. */
  countUpTo: number;
}

export async function openPlace(
  tools: Tools,
  plans: readonly SpatialPlan[],
  { isBesideOthers, countUpTo }: PlaceOptions,
): Promise<Place> {
  const located = await Promise.all(plans.map((plan) => locate(tools, plan)));
  const radius = located.find(isRadius);
  const limit = isBesideOthers ? firstLook.besideOthers : firstLook.alone;
  const first = radius && (await tools.trace.time('look around', () => lookAround(tools, radius, limit)));
  const counts = await Promise.all(
    located.map((each) =>
      each === radius && first && first.reach === Number.POSITIVE_INFINITY
        ? first.keys.length
        : countRegion(tools.reader, each.region, countUpTo),
    ),
  );
  const estimate = Math.min(...counts);
  tracePlace(tools, located, counts);
  const lead = located[counts.indexOf(estimate)] as LocatedConstraint;
  const check = (keys: Keys) => checkConstraints(tools, located, keys);
  return {
    estimate,
    hasDistance: radius !== undefined,
    check,
    candidates: async () =>
      lead === radius && first?.reach === Number.POSITIVE_INFINITY
        ? resourcesOf(tools, keysOf(first.keys))
        : ((await readAll(candidatesOf(tools, lead, estimate))) ?? noKeys),
    set: () =>
      checkedBy(candidatesOf(tools, lead, estimate), async (keys) => {
        const found: Hit[] = [];
        for (const some of inBatches(keys, checkedAtOnce)) found.push(...(await check(some)));
        return keysOfHits(found);
      }),
    async *nearest(select) {
      // Where another constraint is more selective than the radius, all that satisfy it are few.
      const isFew = lead !== radius && estimate <= limit;
      const all = isFew && (await readAll(candidatesOf(tools, lead, estimate)));
      if (all) return yield sortHits(await check(await select(all)));
      yield* streamNearest(tools, radius ?? lead, { first, limit, select, check });
    },
  };
}

async function locate(tools: Tools, plan: SpatialPlan): Promise<LocatedConstraint> {
  const { operator, distanceMeters, quantifier } = plan.constraint;
  const around = await findBox(tools, plan);
  // NONE is satisfied by what is far away.
  const box = quantifier === 'NONE' ? undefined : queryBoxAround(operator, around, distanceMeters);
  return { ...plan, around, region: { paths: plan.paths, ...(box && { box }) } };
}

function lookAround(
  { reader }: Tools,
  { region, around }: LocatedConstraint,
  limit: number,
): Promise<Nearby> {
  return readNearby(reader, region, around, limit);
}

interface NearestOptions {
  first?: Nearby;
  limit: number;
  select(keys: Keys): Promise<Keys>;
  check(keys: Keys): Promise<Hit[]>;
}

/** In wider and wider looks around: beyond the farthest box that a look has reached, something nearer may follow. */
async function* streamNearest(
  tools: Tools,
  radius: LocatedConstraint,
  { first, limit, select, check }: NearestOptions,
): AsyncGenerator<Hit[]> {
  const seen = new Set<number>();
  let waiting: Hit[] = [];
  for (let look = first, most = limit; look; ) {
    tools.deadline.check();
    const reached = metersOf(look.reach);
    const resources = (await resourcesOf(tools, keysOf(look.keys))).filter((key) => !seen.has(key));
    for (const key of resources) seen.add(key);
    for (const some of inBatches(await select(resources), checkedAtOnce))
      waiting.push(...(await check(some)));
    const isNear = ({ distance = 0 }: Hit) => distance <= reached;
    yield sortHits(waiting.filter(isNear));
    if (look.reach === Number.POSITIVE_INFINITY) return;
    waiting = waiting.filter((hit) => !isNear(hit));
    most *= growth;
    look = await lookAround(tools, radius, most);
  }
}

/** Along the surface, from a way through the sphere of radius 1. */
function metersOf(chord: number): number {
  return chord > 2 ? Number.POSITIVE_INFINITY : 2 * earthRadiusMeters * Math.asin(chord / 2);
}

/** The resources that have geometries in the region of a constraint, in the order of keys. Those of a catalog come together: its provider and its offers have geometries, too. */
function candidatesOf(tools: Tools, { region }: LocatedConstraint, estimate: number): DocSet {
  let after = -1;
  let pending: Keys = noKeys;
  let isDone = false;
  return {
    estimate,
    async next() {
      for (;;) {
        if (isDone) return undefined;
        const read = await readRegion(tools.reader, region, after, regionAtOnce);
        after = read.at(-1) ?? after;
        isDone = read.length < regionAtOnce;
        const all = union([pending, read]);
        const last = isDone ? Number.POSITIVE_INFINITY : headOf(after);
        const ready = all.filter((key) => key < last);
        pending = all.subarray(ready.length);
        const resources = await resourcesOf(tools, ready);
        if (resources.length > 0) return resources;
      }
    },
    among: async (keys) => keys,
  };
}

/** What stands in a provider stands in all resources of its catalog, what stands in an offer in those that it covers now. */
async function resourcesOf({ reader, scope }: Tools, keys: Keys): Promise<Keys> {
  const offers = keys.filter((key) => kindOf(key) === 'offer');
  const covered = offers.length > 0 ? await readCovering(reader, offers, scope.now) : [];
  const all = union([keys.filter((key) => kindOf(key) !== 'offer'), ...covered.map(({ covers }) => covers)]);
  const heads = all.filter((key) => kindOf(key) === 'catalog');
  return union([all.filter((key) => kindOf(key) === 'resource'), await listMembers(reader, heads)]);
}

/** The distance of a hit is that of its nearest geometry, by the first constraint that is a radius. */
async function checkConstraints(
  tools: Tools,
  located: readonly LocatedConstraint[],
  keys: Keys,
): Promise<Hit[]> {
  let left = hitsOf(keys);
  for (const constraint of located) {
    if (left.length === 0) break;
    const tallies = await tallyResources(tools, constraint, keysOfHits(left));
    left = left.flatMap((hit) => {
      const tally = tallies(hit.key);
      if (!quantify(constraint.constraint.quantifier, tally)) return [];
      if (tally.distance === Number.POSITIVE_INFINITY || hit.distance !== undefined) return [hit];
      return [{ ...hit, distance: tally.distance }];
    });
  }
  return left;
}

/** What a constraint says of all geometries of each resource: its own, its provider's, and those of offers. */
async function tallyResources(
  tools: Tools,
  located: LocatedConstraint,
  keys: Keys,
): Promise<(key: number) => GeometryTally> {
  const heads = headsOf(keys);
  const asksOffers = located.paths.some((path) => path.startsWith(roots.offer));
  const offers = asksOffers ? await listLocatedOffers(tools.reader, heads, located.paths) : noKeys;
  const covering = offers.length > 0 ? await readCovering(tools.reader, offers, tools.scope.now) : [];
  const byKey = await judgeKeys(tools, located, [...keys, ...heads, ...covering.map(({ key }) => key)]);
  /** By the keys of resources, and of heads, of what offers bring to them: wide ones are added up once for a catalog. */
  const brought = new Map<number, GeometryTally>();
  for (const { key, covers } of covering) {
    const tally = byKey.get(key) ?? noGeometries;
    for (const each of covers) brought.set(each, addTallies(brought.get(each) ?? noGeometries, tally));
  }
  const tallyOf = (key: number) =>
    addTallies(byKey.get(key) ?? noGeometries, brought.get(key) ?? noGeometries);
  return (key) => addTallies(tallyOf(key), tallyOf(headOf(key)));
}

function tracePlace(
  { trace }: Tools,
  located: readonly LocatedConstraint[],
  counts: readonly number[],
): void {
  for (const [index, { constraint, region }] of located.entries())
    trace.note('place', {
      operator: constraint.operator,
      quantifier: constraint.quantifier,
      targets: constraint.targets,
      index: region.box ? 'boxes' : 'paths',
      geometries: counts[index],
    });
}
