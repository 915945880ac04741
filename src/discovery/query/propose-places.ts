import { addTo } from '../../group.ts';
import { earthRadiusMeters } from '../../rules/geometry/sphere.ts';
import { sphereBox } from '../../rules/geometry/sphere-box.ts';
import type { StoredGeometry } from '../../storage/discovery-geometries.ts';
import { kindOf } from '../../storage/discovery-keys.ts';
import { findCovered } from '../../storage/discovery-offers.ts';
import { findInOrder, findNearby } from '../../storage/discovery-places.ts';
import type { Search } from './candidates.ts';
import { judge } from './judge.ts';
import { isAll, isRadius, type PlacedConstraint } from './placed-constraint.ts';
import type { Plan } from './plan.ts';

// The candidates of one spatial constraint: a radius proposes the nearest first, the others in the order of keys.

/** Geometries that are read and judged at a time. */
const placesAtOnce = 400;

/** Alone, the nearest are enough for an answer; beside other parts, all of few are held against those. */
export function firstLook({ text, filter }: Plan): number {
  return text === undefined && filter === undefined ? placesAtOnce : 1_000;
}

/** A longer look around starts anew: each is so many times the one before, or shows all that were counted. */
const growth = 4;

/** What a geometry belongs to, and how far away it is. */
interface Place {
  key: number;
  distance?: number;
}

/** Keys of resources and of catalogs, which stand for their resources, each once. */
export async function* proposePlaces(search: Search, placed: PlacedConstraint): AsyncGenerator<number[]> {
  const seen = new Set<number>();
  for await (const places of isRadius(placed)
    ? nearestFirst(search, placed)
    : inOrderOfKeys(search, placed)) {
    search.deadline.check();
    const keys: number[] = [];
    for (const { key } of (await withCovered(search, places)).sort(byDistance)) {
      if (!seen.has(key)) keys.push(key);
      seen.add(key);
    }
    yield keys;
  }
}

function byDistance(a: Place, b: Place): number {
  return (a.distance ?? 0) - (b.distance ?? 0) || a.key - b.key;
}

/** What stands in an offer stands in the resources that it covers now. */
async function withCovered({ database, plan }: Search, places: readonly Place[]): Promise<Place[]> {
  const offers = places.filter(({ key }) => kindOf(key) === 'offer');
  if (offers.length === 0) return [...places];
  const covered = new Map<number, number[]>();
  const pairs = await findCovered(
    database,
    offers.map(({ key }) => key),
    plan.gate,
  );
  for (const { offer_key, resource_key } of pairs) {
    addTo(covered, offer_key, resource_key);
  }
  return places.flatMap(({ key, distance }) =>
    kindOf(key) === 'offer'
      ? (covered.get(key) ?? []).map((each) => ({ key: each, distance }))
      : [{ key, distance }],
  );
}

async function* inOrderOfKeys(
  search: Search,
  { constraint, region }: PlacedConstraint,
): AsyncGenerator<Place[]> {
  let after: StoredGeometry | undefined;
  for (let limit = placesAtOnce; ; limit = placesAtOnce * growth) {
    const read = await findInOrder(search.database, region, { after, limit });
    yield await fitting(search, constraint, read);
    if (read.length < limit) break;
    after = read.at(-1);
  }
}

/** By distance, in wider and wider looks around: beyond the farthest box that a look has reached, something nearer may follow. */
async function* nearestFirst(
  search: Search,
  { constraint, region, nearby, looked = 0, count = 0 }: PlacedConstraint,
): AsyncGenerator<Place[]> {
  const from = sphereBox(constraint.geometry);
  for (let limit = looked, look = nearby; look; ) {
    const reached = metersOf(look.reach);
    const places = await fitting(search, constraint, look.geometries);
    yield places.filter(({ distance = 0 }) => distance <= reached);
    if (isAll(look)) return;
    limit = Math.max(limit * growth, count + 1);
    look = await findNearby(search.database, region, from, limit);
  }
}

/** Along the surface, from a way through the sphere of radius 1. */
function metersOf(chord: number): number {
  return chord > 2 ? Number.POSITIVE_INFINITY : 2 * earthRadiusMeters * Math.asin(chord / 2);
}

/** Those that can belong to a resource that satisfies the constraint: for NONE, those for which it does not hold. */
async function fitting(
  search: Search,
  constraint: PlacedConstraint['constraint'],
  stored: readonly StoredGeometry[],
): Promise<Place[]> {
  const judgements = await judge(search, constraint, stored);
  const wanted = constraint.quantifier !== 'NONE';
  return stored.flatMap(({ key }, index) => {
    const { holds, distance } = judgements[index] ?? { holds: !wanted };
    return holds === wanted ? [{ key, distance }] : [];
  });
}
