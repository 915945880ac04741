import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import type { Geometry } from '../../protocol/geojson.ts';
import type { Tally } from '../../rules/discover/quantify.ts';
import { prepareDistance } from '../../rules/geometry/distance.ts';
import { prepareQuery } from '../../rules/geometry/predicate.ts';
import { type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { Search } from '../candidates.ts';
import { runInThread } from '../deadline.ts';
import type { SpatialPlan } from '../plan.ts';
import { isAll, type KeyedShape, type Nearby, type Region, readGeometries } from './read-geometries.ts';

// A spatial constraint of a search, and what it says of stored geometries.
//
// The geometry of a query may have tens of thousands of parts. Then everything that looks at all of them runs in threads. They get it as text: to copy it as an object would block the main thread
// for as long as to parse it.

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

/** More than so many characters of stored geometry are judged in a thread. */
const maxInlineShapes = 200_000;

/** Judges stored geometries, in the given order. */
export async function judge(
  search: Search,
  constraint: SpatialConstraint,
  stored: readonly Pick<KeyedShape, 'shape'>[],
): Promise<Judgement[]> {
  search.deadline.check();
  const largeText = findLargeText(constraint);
  const isShort = stored.reduce((sum, { shape }) => sum + shape.length, 0) <= maxInlineShapes;
  if (largeText === undefined && isShort)
    return stored.map(({ shape }) => JSON.parse(shape)).map(prepare(constraint));
  return runInThread<Judgement[]>(search, 'spatialMs', {
    module: import.meta.url,
    name: judgeShapes.name,
    input: {
      constraint: largeText === undefined ? constraint : { ...constraint, geometry: largeText },
      shapes: stored.map(({ shape }) => shape),
    } satisfies Question,
  });
}

interface Question {
  constraint: Omit<SpatialConstraint, 'geometry'> & { geometry: Geometry | string };
  shapes: string[];
}

/** The same in a thread, of GeoJSON texts. */
export function judgeShapes({ constraint, shapes }: Question): Judgement[] {
  const { geometry } = constraint;
  const say = prepare({
    ...constraint,
    geometry: typeof geometry === 'string' ? JSON.parse(geometry) : geometry,
  });
  return shapes.map((shape) => say(JSON.parse(shape)));
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

/** The box around the geometry of a constraint. */
export async function findBox(search: Search, constraint: SpatialConstraint): Promise<SphereBox> {
  const input = findLargeText(constraint);
  if (input === undefined) return sphereBox(constraint.geometry);
  const task = { module: import.meta.url, name: boxOfText.name, input };
  return runInThread<SphereBox>(search, 'spatialMs', task);
}

/** Runs in the thread. */
export function boxOfText(text: string): SphereBox {
  return sphereBox(JSON.parse(text) as Geometry);
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
