import { hasCode } from '../../error-code.ts';
import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import { faultAt } from '../../protocol/fault.ts';
import type { Geometry, GeometryFault } from '../../protocol/geojson.ts';
import type { Tally } from '../../rules/discover/quantify.ts';
import { countPairs, findExcess } from '../../rules/geometry/complexity.ts';
import { prepareDistance } from '../../rules/geometry/distance.ts';
import { prepareQuery } from '../../rules/geometry/predicate.ts';
import { type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { Search } from '../candidates.ts';
import type { SpatialPlan } from '../plan.ts';
import { isAll, type KeyedShape, type Nearby, type Region, readGeometries } from './read-geometries.ts';

// A spatial constraint of a search, and what it says of stored geometries.
//
// The geometry of a query may have tens of thousands of parts, and so may stored ones. What looks at all of them then, or at many pairs of their edges, runs in threads, under the deadline: `judge` and `findBox`
// decide on that, and nobody else compares geometries. Threads get texts: to copy an object would block the main thread for as long as to parse it.

/** A spatial constraint, with the region in which geometries can satisfy it. */
export interface LocatedConstraint extends SpatialPlan {
  /** Around the geometry of the constraint. */
  around: SphereBox;
  region: Region;
  /** How many geometries are there, as far as was counted. */
  count: number;
  /** The nearest ones, where it is a radius: so many as were looked for, or all. */
  nearby?: Nearby;
}

export function isRadius({ constraint }: SpatialPlan): boolean {
  return constraint.operator === 'S_DWITHIN';
}

/** What a constraint says of some geometries. */
export interface GeometryTally extends Tally {
  /** Of the nearest, in metres; infinite where none is measured. */
  distance: number;
}

export const noGeometries: GeometryTally = { asked: 0, holds: 0, distance: Number.POSITIVE_INFINITY };

export function addTallies(a: GeometryTally, b: GeometryTally): GeometryTally {
  return {
    asked: a.asked + b.asked,
    holds: a.holds + b.holds,
    distance: Math.min(a.distance, b.distance),
  };
}

/** What a constraint says of the geometries under each of some keys. */
export async function judgeKeys(
  search: Search,
  located: LocatedConstraint,
  keys: Iterable<number>,
): Promise<Map<number, GeometryTally>> {
  const wanted = new Set(keys);
  const { geometries, judgements } = await judgeDeciding(search, located, wanted);
  const tallies = new Map<number, GeometryTally>();
  for (const [index, { holds, distance = Number.POSITIVE_INFINITY }] of judgements.entries()) {
    const key = geometries[index]?.key ?? 0;
    if (!wanted.has(key)) continue;
    const tally = { asked: 1, holds: holds ? 1 : 0, distance };
    tallies.set(key, addTallies(tallies.get(key) ?? noGeometries, tally));
  }
  return tallies;
}

/** Judges the geometries that decide on a constraint, or more. A radius reaches none but those that were found around its middle. */
async function judgeDeciding(
  search: Search,
  { constraint, paths, nearby }: LocatedConstraint,
  keys: ReadonlySet<number>,
): Promise<{ geometries: readonly KeyedShape[]; judgements: readonly Judgement[] }> {
  const around = nearby && isAll(nearby) && constraint.quantifier === 'ANY' ? nearby : undefined;
  const known = around && judged.get(around);
  if (known) return { geometries: around.geometries, judgements: await known };
  const geometries = around
    ? around.geometries.filter(({ key }) => keys.has(key))
    : await readGeometries(search.database, [...keys], paths);
  return { geometries, judgements: await judge(search, constraint, geometries) };
}

/** All geometries around: what they propose may be checked again beside other parts. */
export function judgeNearby(
  search: Search,
  constraint: SpatialConstraint,
  nearby: Nearby,
): Promise<Judgement[]> {
  const judging = judge(search, constraint, nearby.geometries);
  judged.set(nearby, judging);
  return judging;
}

const judged = new WeakMap<Nearby, Promise<Judgement[]>>();

/** What a constraint says of a stored geometry. */
export interface Judgement {
  holds: boolean;
  /** Metres, for S_DWITHIN. */
  distance?: number;
}

/** More characters of stored geometries, or more pairs of edges, are judged in a thread: fewer take some milliseconds. */
const maxInlineShapes = 200_000;
const maxInlinePairs = 10_000;

/** Judges stored geometries, in the given order. */
export async function judge(
  search: Search,
  constraint: SpatialConstraint,
  stored: readonly KeyedShape[],
): Promise<Judgement[]> {
  search.deadline.check();
  const largeText = findLargeText(constraint);
  const isShort = stored.reduce((sum, { shape }) => sum + shape.length, 0) <= maxInlineShapes;
  if (largeText === undefined && isShort) {
    const geometries = stored.map(({ shape }): Geometry => JSON.parse(shape));
    if (countPairs(constraint.operator, constraint.geometry, geometries) <= maxInlinePairs)
      return geometries.map(prepare(constraint));
  }
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(-1);
  const input: Question = {
    constraint: largeText === undefined ? constraint : { ...constraint, geometry: largeText },
    shapes: stored.map(({ shape }) => shape),
    progress,
  };
  const task = { module: import.meta.url, name: judgeShapes.name, input };
  return search.evaluation.run<Judgement[]>('spatial', task).catch(async (error) => {
    const last = stored[Atomics.load(progress, 0)];
    if (last && hasCode(error, 'NET_TIMEOUT')) await search.logCostly(last);
    throw error;
  });
}

interface Question {
  constraint: Omit<SpatialConstraint, 'geometry'> & { geometry: Geometry | string };
  shapes: string[];
  /** The index of the shape that is being judged; -1 while that is none. */
  progress: Int32Array;
}

/** The same in a thread, of GeoJSON texts. */
export function judgeShapes({ constraint, shapes, progress }: Question): Judgement[] {
  const { geometry } = constraint;
  const say = prepare({
    ...constraint,
    geometry: typeof geometry === 'string' ? JSON.parse(geometry) : geometry,
  });
  return shapes.map((shape, index) => {
    Atomics.store(progress, 0, index);
    return say(JSON.parse(shape));
  });
}

function prepare({
  operator,
  geometry,
  distanceMeters = 0,
}: SpatialConstraint): (stored: Geometry) => Judgement {
  if (operator !== 'S_DWITHIN') {
    const holds = prepareQuery(operator, geometry);
    return (stored) => ({ holds: holds(stored) });
  }
  const measure = prepareDistance(geometry);
  return (stored) => {
    const distance = measure(stored);
    return { holds: distance <= distanceMeters, distance };
  };
}

/** The box around the geometry of a constraint. Throws SCH_SCHEMA_VALIDATION_FAILED for a geometry that is too costly to search with. */
export async function findBox(search: Search, { constraint, position }: SpatialPlan): Promise<SphereBox> {
  const input = findLargeText(constraint);
  const task = { module: import.meta.url, name: measureText.name, input };
  const { excess, box } =
    input === undefined
      ? measure(constraint.geometry)
      : await search.evaluation.run<Measured>('spatial', task);
  if (box) return box;
  const at = ['message', 'intent', 'spatial', position, 'geometry', ...excess.at];
  throw faultAt(excess.code, at, excess.message);
}

type Measured = { excess: GeometryFault; box?: undefined } | { excess?: undefined; box: SphereBox };

/** Runs in the thread. */
export function measureText(text: string): Measured {
  return measure(JSON.parse(text));
}

function measure(geometry: Geometry): Measured {
  const excess = findExcess(geometry);
  return excess ? { excess } : { box: sphereBox(geometry) };
}

/** More characters of a geometry are left to a thread. */
const maxInlineText = 5_000;

/** Undefined for a geometry that is small enough to be looked at in the main thread. */
export function findLargeText(constraint: SpatialConstraint): string | undefined {
  const text = texts.get(constraint) ?? JSON.stringify(constraint.geometry);
  texts.set(constraint, text);
  return text.length > maxInlineText ? text : undefined;
}

/** A search asks for them several times. */
const texts = new WeakMap<SpatialConstraint, string>();
