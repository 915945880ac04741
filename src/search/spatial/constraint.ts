import { hasCode } from '../../error-code.ts';
import type { SpatialConstraint } from '../../protocol/discover-messages.ts';
import { faultAt } from '../../protocol/fault.ts';
import type { Geometry, GeometryFault } from '../../protocol/geojson.ts';
import { quantify, type Tally } from '../../rules/discover/quantify.ts';
import { countPairs, findExcess } from '../../rules/geometry/complexity.ts';
import { metersBetweenPoints, prepareDistance } from '../../rules/geometry/distance.ts';
import { prepareQuery } from '../../rules/geometry/predicate.ts';
import { earthRadiusMeters } from '../../rules/geometry/sphere.ts';
import { pointOf, rounding, type SphereBox, sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { IndexReader } from '../cache/caches.ts';
import type { Hit } from '../hit.ts';
import { catalogKeyOf } from '../keys.ts';
import { type Keys, keysOf } from '../set/sorted.ts';
import type { Tools } from '../tools.ts';
import { type KeyedShape, type Region, readGeometries, readNearby } from './read-geometries.ts';

// A spatial constraint of a search, and its results for stored geometries. Both may have tens of thousands of parts. Then they are compared in threads, under the deadline: `judge` and `findBox`
// decide that. The distance between two points follows from their boxes (`lookAround`). Threads get texts, because copying an object would block the main thread for as long as parsing it.

/** A spatial constraint of an intent. */
export interface SpatialPlan {
  constraint: SpatialConstraint;
  /** Its index in the intent. */
  position: number;
  /** In the spelling of the index; empty if no indexed path can equal a target. */
  paths: string[];
  /** The geometry as text. */
  text: string;
  /** Too large for the main thread. */
  isLarge: boolean;
}

/** Characters of a geometry: longer ones go to a thread. */
const maxInlineText = 5_000;

export function planConstraint(constraint: SpatialConstraint, position: number, paths: string[]) {
  const text = JSON.stringify(constraint.geometry);
  return { constraint, position, paths, text, isLarge: text.length > maxInlineText };
}

/** With the region in which geometries can satisfy it. */
export interface LocatedConstraint extends SpatialPlan {
  /** The box around the geometry of the constraint. */
  around: SphereBox;
  region: Region;
}

export function isRadius({ constraint }: SpatialPlan): boolean {
  return constraint.operator === 'S_DWITHIN';
}

/** The result of a constraint on some geometries. */
export interface GeometryTally extends Tally {
  /** Distance of the nearest, in metres; infinite if none was measured. */
  distance: number;
}

export const noGeometries: GeometryTally = { asked: 0, holds: 0, distance: Number.POSITIVE_INFINITY };

export function addTallies(a: GeometryTally, b: GeometryTally): GeometryTally {
  const distance = Math.min(a.distance, b.distance);
  return { asked: a.asked + b.asked, holds: a.holds + b.holds, distance };
}

/** The hits that satisfy a constraint. The distance of a hit is that of its nearest geometry, by the first radius. */
export function selectHits(
  hits: readonly Hit[],
  { constraint }: SpatialPlan,
  tallyOf: (key: number) => GeometryTally,
): Hit[] {
  return hits.flatMap((hit) => {
    const tally = tallyOf(hit.key);
    if (!quantify(constraint.quantifier, tally)) return [];
    const isMeasured = hit.distance === undefined && tally.distance < Number.POSITIVE_INFINITY;
    return isMeasured ? [{ ...hit, distance: tally.distance }] : [hit];
  });
}

/** Documents near the centre of a radius. */
export interface Look {
  keys: Keys;
  /** Results that follow from the boxes of points. For the other documents, all geometries must be read. */
  measured: Map<number, GeometryTally>;
  /** Metres: everything nearer was found. */
  reach: number;
}

/** Finds the nearest geometries. If any geometry will do, omits documents with nothing but points outside the radius. */
export async function lookAround(reader: IndexReader, located: LocatedConstraint, limit: number) {
  const { found, chord } = await readNearby(reader, located, limit);
  const { geometry, quantifier, distanceMeters = 0 } = located.constraint;
  const around = quantifier === 'ANY' ? pointOf(geometry) : undefined;
  const measured = new Map<number, GeometryTally>();
  for (const { key, point } of found) {
    if (!around || !point) continue;
    const distance = metersBetweenPoints(point, around);
    const tally = { asked: 1, holds: distance <= distanceMeters ? 1 : 0, distance };
    measured.set(key, addTallies(measured.get(key) ?? noGeometries, tally));
  }
  for (const { key, point } of found) if (!point) measured.delete(key);
  return {
    keys: keysOf(found.map(({ key }) => key).filter((key) => measured.get(key)?.holds !== 0)),
    measured,
    reach: chord === undefined ? Number.POSITIVE_INFINITY : metersOf(chord),
  };
}

/** Converts a chord to metres, slightly rounded down, so that geometries as far as the farthest wait for the next look. */
function metersOf(chord: number): number {
  return 2 * earthRadiusMeters * Math.asin(Math.min(1, Math.max(0, chord - rounding) / 2));
}

/** Applies a constraint to the geometries under each of some keys. */
export async function judgeKeys(tools: Tools, located: LocatedConstraint, keys: Iterable<number>) {
  const wanted = [...new Set(keys)];
  const shapes = wanted.length > 0 ? await readGeometries(tools.reader, wanted, located.paths) : [];
  return tallyShapes(tools, located, shapes);
}

/** The results of a constraint on some geometries, by key. */
export async function tallyShapes(tools: Tools, constraint: SpatialPlan, shapes: readonly KeyedShape[]) {
  const tallies = new Map<number, GeometryTally>();
  for (const [index, tally] of (await judge(tools, constraint, shapes)).entries()) {
    const key = shapes[index]?.key ?? 0;
    tallies.set(key, addTallies(tallies.get(key) ?? noGeometries, tally));
  }
  return tallies;
}

/** More characters of stored geometries, or more pairs of edges, go to a thread. Fewer take some milliseconds. */
const maxInlineShapes = 200_000;
const maxInlinePairs = 10_000;

/** Judges stored geometries, in the given order. */
export async function judge(
  tools: Tools,
  { constraint, text, isLarge }: SpatialPlan,
  stored: readonly KeyedShape[],
): Promise<GeometryTally[]> {
  tools.deadline.check();
  const isShort = stored.reduce((sum, { shape }) => sum + shape.length, 0) <= maxInlineShapes;
  if (!isLarge && isShort) {
    const geometries = stored.map(({ shape }): Geometry => JSON.parse(shape));
    if (countPairs(constraint.operator, constraint.geometry, geometries) <= maxInlinePairs)
      return geometries.map(prepare(constraint));
  }
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(-1);
  const input: ThreadInput = {
    constraint: { ...constraint, geometry: text },
    shapes: stored.map(({ shape }) => shape),
    progress,
  };
  const task = { module: import.meta.url, name: judgeShapes.name, input };
  return tools.evaluation.run<GeometryTally[]>('spatial', task).catch(async (error) => {
    const last = stored[Atomics.load(progress, 0)];
    if (last && hasCode(error, 'NET_TIMEOUT')) await logCostly(tools, last);
    throw error;
  });
}

/** Logs the stored geometry that was being compared at the deadline. The search's reader has no time left, so this asks the database. */
async function logCostly({ database, logger, reader: { index } }: Tools, { key, shape }: KeyedShape) {
  if (logger === undefined) return;
  try {
    const named = await database.first<{ owner: string; catalogId: string; id?: string; path: string }>(
      `select catalog.owner, catalog.id as "catalogId", coalesce(resource.id, offer.id) as id, path.path
       from ${index}.geometry join ${index}.geometry_path as path on path.id = path_id
       join discovery.catalog on catalog.key = $2
       left join discovery.resource on resource.key = geometry.key left join discovery.offer on offer.key = geometry.key
       where geometry.key = $1 and shape::text = $3 limit 1`,
      [key, catalogKeyOf(key), shape],
      { timeoutMs: logWithinMs },
    );
    logger.warn({ ...named, characters: shape.length }, 'a geometry was not compared in time');
  } catch (error) {
    logger.warn({ err: error, key }, 'a geometry was not compared in time, and its name was not found');
  }
}

const logWithinMs = 1_000;

interface ThreadInput {
  constraint: Omit<SpatialConstraint, 'geometry'> & { geometry: string };
  shapes: string[];
  /** The index of the shape being judged; -1 before the first. */
  progress: Int32Array;
}

/** The same in a thread, with GeoJSON texts. */
export function judgeShapes({ constraint, shapes, progress }: ThreadInput): GeometryTally[] {
  const say = prepare({ ...constraint, geometry: JSON.parse(constraint.geometry) });
  return shapes.map((shape, index) => {
    Atomics.store(progress, 0, index);
    return say(JSON.parse(shape));
  });
}

function prepare({ operator, geometry, distanceMeters = 0 }: SpatialConstraint) {
  const isRound = operator === 'S_DWITHIN';
  const measure = isRound ? prepareDistance(geometry) : () => Number.POSITIVE_INFINITY;
  const holds = isRound ? () => false : prepareQuery(operator, geometry);
  return (stored: Geometry): GeometryTally => {
    const distance = measure(stored);
    return { asked: 1, holds: holds(stored) || distance <= distanceMeters ? 1 : 0, distance };
  };
}

/** The box around the geometry of a constraint. Throws SCH_SCHEMA_VALIDATION_FAILED for a geometry that is too costly to search with. */
export async function findBox(tools: Tools, { position, text, isLarge }: SpatialPlan) {
  const task = { module: import.meta.url, name: measure.name, input: text };
  const { excess, box } = isLarge ? await tools.evaluation.run<Measured>('spatial', task) : measure(text);
  if (box) return box;
  const at = ['message', 'intent', 'spatial', position, 'geometry', ...excess.at];
  throw faultAt(excess.code, at, excess.message);
}

type Measured = { excess: GeometryFault; box?: undefined } | { excess?: undefined; box: SphereBox };

/** Also runs in the thread. */
export function measure(text: string): Measured {
  const geometry: Geometry = JSON.parse(text);
  const excess = findExcess(geometry);
  return excess ? { excess } : { box: sphereBox(geometry) };
}
