import { createBreaks } from '../../breaks.ts';
import { queryBoxAround } from '../../rules/geometry/sphere-box.ts';
import { headsOf } from '../documents/members.ts';
import { byCatalog, readCovering, resourcesOf } from '../documents/own-offers.ts';
import { roots } from '../entries/geometry-paths.ts';
import { type Hit, hitsOf, keysOfHits, sortHits } from '../hit.ts';
import { headOf, kindOf } from '../keys.ts';
import { checkedBy, type DocSet, readAll } from '../set/doc-set.ts';
import { hasKey, inBatches, intersection, type Keys, noKeys, union } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import {
  addTallies,
  findBox,
  type GeometryTally,
  isRadius,
  judgeKeys,
  type LocatedConstraint,
  type Look,
  lookAround,
  noGeometries,
  type SpatialPlan,
  selectHits,
} from './constraint.ts';
import { countRegion, listLocatedOffers, readRegion } from './read-geometries.ts';

// The place of an intent: all its spatial constraints on the stored geometries. A resource has its own geometries, those of its provider, and those of its catalog's offers that cover it now. The index of boxes
// proposes keys. Then the geometries of candidates that passed everything else are read, and decide. Points decide without being read.

export type Place = Awaited<ReturnType<typeof openPlace>>;

/** Geometries of the first look around: for a place alone, the nearest are enough; with other parts, all of a few are compared with those. */
const firstLook = { alone: 500, besideOthers: 1_000 };
/** Each longer look around starts again, with this factor. */
const growth = 4;
/** Number of geometries of a region that are read at once, in key order. */
const regionAtOnce = 1_600;
/** Number of resources that are checked at once: a catalog may have many more. */
const checkedAtOnce = 2_000;

/** `isBesideOthers`: the intent has other parts. `countUpTo`: maximum of counted geometries. */
export async function openPlace(
  tools: Tools,
  plans: readonly SpatialPlan[],
  { isBesideOthers, countUpTo }: { isBesideOthers: boolean; countUpTo: number },
) {
  const { reader, trace } = tools;
  const located = await Promise.all(plans.map((plan) => locate(tools, plan)));
  const radius = located.find(isRadius);
  const limit = isBesideOthers ? firstLook.besideOthers : firstLook.alone;
  const first = radius && (await trace.time('look around', () => lookAround(reader, radius, limit)));
  const isAll = first?.reach === Number.POSITIVE_INFINITY;
  // A radius alone always leads.
  const isCounted = isAll || (radius && located.length === 1 && !isBesideOthers);
  const count = (each: LocatedConstraint) =>
    each === radius && isCounted ? (first?.keys.length ?? 0) : countRegion(reader, each.region, countUpTo);
  const counts = await Promise.all(located.map(count));
  const estimate = Math.min(...counts);
  for (const [index, { constraint, region }] of located.entries()) {
    const { operator, quantifier, targets } = constraint;
    const by = region.box ? 'boxes' : 'paths';
    trace.note('place', { operator, quantifier, targets, index: by, geometries: counts[index] });
  }
  const lead = located[counts.indexOf(estimate)] as LocatedConstraint;
  const check = (keys: Keys, look = isAll ? first : undefined) => {
    const known = radius?.constraint.quantifier === 'ANY' ? look : undefined;
    const checked = located.map((each) => (each === radius ? { ...each, known } : each));
    return checkConstraints(tools, checked, keys);
  };
  return {
    /** Geometries in the most selective region, as far as they were counted. */
    estimate,
    hasDistance: radius !== undefined,
    /** Selects the resources that satisfy all constraints, with their distances. */
    check: (keys: Keys) => check(keys),
    /** All resources that may satisfy the most selective constraint, including all of a provider there; undefined if more than `atMost`. */
    async candidates(atMost: number): Promise<Keys | undefined> {
      if (lead !== radius || !isAll) return readAll(candidatesOf(tools, lead, estimate), atMost);
      const keys = await resourcesOf(reader, first.keys, tools.scope.now);
      return keys.length > atMost ? undefined : keys;
    },
    /** The resources that satisfy all constraints, in key order. */
    set: (): DocSet =>
      checkedBy(candidatesOf(tools, lead, estimate), async (keys) => {
        const found: Hit[] = [];
        for (const some of inBatches(keys, checkedAtOnce)) found.push(...(await check(some)));
        return keysOfHits(found);
      }),
    /** The same, nearest first, in wider and wider looks. Resources beyond the farthest box wait for the next look, which may find nearer ones. */
    async *nearest(select: (keys: Keys) => Promise<Keys>): AsyncGenerator<Hit[]> {
      // If another constraint is more selective than the radius, few resources satisfy it.
      const isFew = lead !== radius && estimate <= limit;
      const all = isFew && (await readAll(candidatesOf(tools, lead, estimate)));
      if (all) return yield sortHits(await check(await select(all)));
      const found = new Set<number>();
      const takeBreak = createBreaks();
      for (let look = first, most = limit; radius && look; look = await lookAround(reader, radius, most)) {
        const { keys, reach } = look;
        const resources = await resourcesOf(reader, keys, tools.scope.now);
        const hits: Hit[] = [];
        const selected = await select(resources.filter((key) => !found.has(key)));
        for (const some of inBatches(selected, checkedAtOnce)) {
          tools.deadline.check();
          await takeBreak();
          for (const hit of await check(some, look)) if ((hit.distance ?? 0) < reach) hits.push(hit);
        }
        for (const { key } of hits) found.add(key);
        yield sortHits(hits);
        if (reach === Number.POSITIVE_INFINITY) return;
        most *= growth;
      }
    },
  };
}

async function locate(tools: Tools, plan: SpatialPlan): Promise<LocatedConstraint> {
  const { operator, distanceMeters, quantifier } = plan.constraint;
  const around = await findBox(tools, plan);
  // NONE is satisfied by distant geometries.
  const box = quantifier === 'NONE' ? undefined : queryBoxAround(operator, around, distanceMeters);
  return { ...plan, around, region: { paths: plan.paths, ...(box && { box }) } };
}

/** `known`: if any geometry will do, the results of a look around. Of these, only shapes that were not measured are read. */
type CheckedConstraint = LocatedConstraint & { known?: Look | undefined };

/** The resources with geometries in the region of a constraint, in key order. */
function candidatesOf({ reader, scope }: Tools, { region }: LocatedConstraint, estimate: number): DocSet {
  let after: number | undefined = -1;
  const next = async () => {
    if (after === undefined) return undefined;
    const read: Keys = await readRegion(reader, region, after, regionAtOnce);
    after = read.length < regionAtOnce ? undefined : read.at(-1);
    return read;
  };
  const standFor = (keys: Keys) => resourcesOf(reader, keys, scope.now);
  return { estimate, next: byCatalog(next, standFor), among: async (keys) => keys };
}

async function checkConstraints(tools: Tools, located: readonly CheckedConstraint[], keys: Keys) {
  let left = hitsOf(keys);
  for (const constraint of located) {
    if (left.length === 0) break;
    left = selectHits(left, constraint, await tallyResources(tools, constraint, keysOfHits(left)));
  }
  return left;
}

/** Applies a constraint to all geometries of each resource: its own, its provider's, and those of offers. */
async function tallyResources(tools: Tools, { known, ...located }: CheckedConstraint, keys: Keys) {
  const heads = headsOf(keys);
  const asksOffers = located.paths.some((path) => path.startsWith(roots.offer));
  const listOffers = () => listLocatedOffers(tools.reader, heads, located.paths);
  const isTheirs = (key: number) => kindOf(key) === 'offer' && hasKey(heads, headOf(key));
  const offers = known?.keys.filter(isTheirs) ?? (asksOffers ? await listOffers() : noKeys);
  const covering = offers.length > 0 ? await readCovering(tools.reader, offers, tools.scope.now) : [];
  const judged = known ? intersection(union([keys, heads]), known.keys) : [...keys, ...heads];
  const asked = [...judged, ...covering.map(({ key }) => key)];
  const unmeasured = asked.filter((key) => !known?.measured.has(key));
  const byKey = await judgeKeys(tools, located, unmeasured);
  const ownTally = (key: number) => known?.measured.get(key) ?? byKey.get(key) ?? noGeometries;
  /** Results of offers by the keys of the resources that they cover. Offers on a whole catalog are added up once, under its head. */
  const brought = new Map<number, GeometryTally>();
  for (const { key, covers } of covering) {
    const tally = ownTally(key);
    for (const each of covers) brought.set(each, addTallies(brought.get(each) ?? noGeometries, tally));
  }
  const tallyOf = (key: number) => addTallies(ownTally(key), brought.get(key) ?? noGeometries);
  return (key: number): GeometryTally => addTallies(tallyOf(key), tallyOf(headOf(key)));
}
