import { earthRadiusMeters } from '../../rules/geometry/sphere.ts';
import type { Search } from '../candidates.ts';
import { keyOf, kindOf } from '../documents/keys.ts';
import { divideOffers, findCovered } from '../documents/offers.ts';
import { findHomes, readListings } from '../documents/read-wide-offers.ts';
import type { Plan } from '../plan.ts';
import { isRadius, type Judgement, judge, judgeNearby, type LocatedConstraint } from './constraint.ts';
import { isAll, type KeyedShape, readNearby, readRegion, type StoredGeometry } from './read-geometries.ts';

// Proposes candidates for one spatial constraint: a radius proposes the nearest first, other constraints in the order of keys.

/** Geometries that are read and judged at a time. */
const geometriesAtOnce = 400;

/** Alone, the nearest are enough for an answer; beside other parts, all of few are held against those. */
export function limitFirstLook({ text, filter }: Plan): number {
  return text === undefined && filter === undefined ? geometriesAtOnce : 1_000;
}

/** A longer look around starts anew: each is so many times the one before, or shows all that were counted. */
const growth = 4;

/** What a geometry belongs to, and how far away it is. */
interface Match {
  key: number;
  distance?: number;
}

/** Keys of resources and of catalogs, which stand for their resources, each once. */
export async function* proposeByGeometries(
  search: Search,
  located: LocatedConstraint,
): AsyncGenerator<number[]> {
  const seen = new Set<number>();
  for await (const matches of isRadius(located)
    ? streamNearest(search, located)
    : streamInOrder(search, located)) {
    search.deadline.check();
    const keys: number[] = [];
    for (const { key } of (await expandOffers(search, matches)).sort(byDistance)) {
      if (!seen.has(key)) keys.push(key);
      seen.add(key);
    }
    yield keys;
  }
}

function byDistance(a: Match, b: Match): number {
  return (a.distance ?? 0) - (b.distance ?? 0) || a.key - b.key;
}

/** What stands in an offer stands in the resources that it applies to now; in a wide one, in the catalogs that list it. */
async function expandOffers({ database, plan }: Search, matches: readonly Match[]): Promise<Match[]> {
  const offers = matches.filter(({ key }) => kindOf(key) === 'offer').sort(byDistance);
  if (offers.length === 0) return [...matches];
  const found = matches.filter(({ key }) => kindOf(key) !== 'offer');
  const nearest = new Map<number, Match>();
  for (const match of offers) if (!nearest.has(match.key)) nearest.set(match.key, match);
  const { named, wide } = await divideOffers(database, [...nearest.keys()]);
  for (const { offer_key, resource_key } of await findCovered(database, named, plan.scope))
    found.push({ key: resource_key, distance: nearest.get(offer_key)?.distance });
  const listings = await readListings(
    database,
    wide.map(({ provider }) => provider),
    plan.scope,
  );
  for (const { provider, keys } of wide) {
    const theirs = keys.flatMap((key) => nearest.get(key) ?? []).sort(byDistance);
    const wanted = theirs.map(({ key }) => key);
    for (const [home, index] of findHomes(listings, provider, wanted))
      found.push({ key: keyOf(home, 0), distance: theirs[index]?.distance });
  }
  return found;
}

async function* streamInOrder(
  search: Search,
  { constraint, region }: LocatedConstraint,
): AsyncGenerator<Match[]> {
  let after: StoredGeometry | undefined;
  for (let limit = geometriesAtOnce; ; limit = geometriesAtOnce * growth) {
    const read = await readRegion(search.database, region, { after, limit });
    yield selectFitting(constraint, read, await judge(search, constraint, read));
    if (read.length < limit) break;
    after = read.at(-1);
  }
}

/** By distance, in wider and wider looks around: beyond the farthest box that a look has reached, something nearer may follow. */
async function* streamNearest(
  search: Search,
  { constraint, around, region, nearby, count }: LocatedConstraint,
): AsyncGenerator<Match[]> {
  for (let limit = limitFirstLook(search.plan), look = nearby; look; ) {
    const reached = metersOf(look.reach);
    const judgements = await judgeNearby(search, constraint, look);
    const matches = selectFitting(constraint, look.geometries, judgements);
    yield matches.filter(({ distance = 0 }) => distance <= reached);
    if (isAll(look)) return;
    limit = Math.max(limit * growth, count + 1);
    look = await readNearby(search.database, region, around, limit);
  }
}

/** Along the surface, from a way through the sphere of radius 1. */
function metersOf(chord: number): number {
  return chord > 2 ? Number.POSITIVE_INFINITY : 2 * earthRadiusMeters * Math.asin(chord / 2);
}

/** Those that can belong to a resource that satisfies the constraint: for NONE, those for which it does not hold. */
function selectFitting(
  { quantifier }: LocatedConstraint['constraint'],
  stored: readonly KeyedShape[],
  judgements: readonly Judgement[],
): Match[] {
  const wanted = quantifier !== 'NONE';
  return stored.flatMap(({ key }, index) => {
    const { holds, distance } = judgements[index] ?? { holds: !wanted };
    return holds === wanted ? [{ key, distance }] : [];
  });
}
