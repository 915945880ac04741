import { earthRadiusMeters } from '../../rules/geometry/sphere.ts';
import { sphereBox } from '../../rules/geometry/sphere-box.ts';
import { readNearby, readRegion, type StoredGeometry } from '../../storage/discovery-geometries.ts';
import { catalogKeyOf, keyOf, kindOf } from '../../storage/discovery-keys.ts';
import { findCovered } from '../../storage/discovery-offers.ts';
import { judge } from './judge.ts';
import { passingOf } from './passing.ts';
import type { Search } from './search.ts';
import type { PlacedConstraint } from './spatial.ts';
import type { Standing } from './standing.ts';

// The candidates of one spatial constraint: a radius proposes the nearest first, the others in the order of keys.

/** Geometries that are read and judged at a time. */
const firstPage = 400;
/** A longer look around starts anew: each is so many times the one before. */
const pageGrowth = 4;

/** What a geometry belongs to, and how far away it is. */
interface Place {
  key: number;
  distance?: number;
}

/** Resources that passed the filter, each once. */
export async function* proposePlaces(search: Search, placed: PlacedConstraint): AsyncGenerator<Standing[]> {
  const seen = new Set<number>();
  const isRadius = placed.constraint.operator === 'S_DWITHIN';
  for await (const places of isRadius ? nearestFirst(search, placed) : inOrderOfKeys(search, placed)) {
    const distances = new Map<number, number | undefined>();
    for (const { key, distance } of (await withCovered(search, places)).sort(byDistance)) {
      if (!seen.has(key)) distances.set(key, distance);
      seen.add(key);
    }
    if (distances.size === 0) continue;
    for await (const keys of passingOf(search, [...distances.keys()])) {
      yield keys.map((key) => {
        const distance = smaller(distances.get(key), distances.get(keyOf(catalogKeyOf(key), 0)));
        return { key, proposedBy: placed.constraint, ...(distance !== undefined && { distance }) };
      });
    }
  }
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
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
    covered.set(offer_key, [...(covered.get(offer_key) ?? []), resource_key]);
  }
  return places.flatMap(({ key, distance }) =>
    kindOf(key) === 'offer'
      ? (covered.get(key) ?? []).map((each) => ({ key: each, distance }))
      : [{ key, distance }],
  );
}

async function* inOrderOfKeys(
  search: Search,
  { constraint, regions }: PlacedConstraint,
): AsyncGenerator<Place[]> {
  for (const region of regions) {
    let after: StoredGeometry | undefined;
    for (let limit = firstPage; ; limit = firstPage * pageGrowth) {
      const read = await readRegion(search.database, region, { after, limit });
      yield await fitting(search, constraint, read);
      if (read.length < limit) break;
      after = read.at(-1);
    }
  }
}

/** By distance, in wider and wider looks around: beyond the farthest box that a look has reached, something nearer may follow. */
async function* nearestFirst(
  search: Search,
  { constraint, regions }: PlacedConstraint,
): AsyncGenerator<Place[]> {
  const from = sphereBox(constraint.geometry);
  for (let limit = firstPage; ; limit *= pageGrowth) {
    const looks = await Promise.all(
      regions.map((region) => readNearby(search.database, region, from, limit)),
    );
    const reached = Math.min(
      ...looks.map((look) => (look.length < limit ? endOfTheWorld : metersOf(look.at(-1)?.chord))),
    );
    const places = await fitting(search, constraint, looks.flat());
    yield places.filter(({ distance = 0 }) => distance <= reached);
    if (reached === endOfTheWorld) return;
  }
}

const endOfTheWorld = Number.POSITIVE_INFINITY;

/** Along the surface, from a way through the sphere of radius 1. */
function metersOf(chord = 0): number {
  return 2 * earthRadiusMeters * Math.asin(Math.min(1, chord / 2));
}

/** Those that can belong to a resource that satisfies the constraint: for NONE, those for which it does not hold. */
async function fitting(
  search: Search,
  constraint: PlacedConstraint['constraint'],
  stored: readonly StoredGeometry[],
): Promise<Place[]> {
  const judgements = await judge(
    search,
    constraint,
    stored.map(({ shape }) => shape),
  );
  const wanted = constraint.quantifier !== 'NONE';
  return stored.flatMap(({ key }, index) => {
    const { holds, distance } = judgements[index] ?? { holds: !wanted };
    return holds === wanted ? [{ key, distance }] : [];
  });
}
