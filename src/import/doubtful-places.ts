import { addTo } from '../group.ts';
import {
  angleBetween,
  chord,
  dot,
  earthRadiusMeters,
  toVector,
  type Vector,
} from '../rules/geometry/sphere.ts';
import { findCountry, isWithin, type Point } from './countries.ts';

// Valid coordinates that look wrong: swapped, outside the stated country, or far from all others. Medians decide what is usual, so a minority
// of wrong rows has no effect.

export interface StatedPlace extends Point {
  country?: string;
}

export function findDoubtfulPlaces<T extends StatedPlace>(places: readonly T[]): { place: T; why: string }[] {
  const known = places.filter((place) => !isZero(place) && !isOutside(place));
  const all = clusterOf(known);
  const byCountry = new Map(
    [...groupByCountry(known)].map(([country, group]) => [country, clusterOf(group)]),
  );
  return places.flatMap((place) => {
    const why = findDoubt(place, byCountry.get(countryKey(place)) ?? all);
    return why === undefined ? [] : [{ place, why }];
  });
}

function findDoubt(place: StatedPlace, cluster: Cluster | undefined): string | undefined {
  if (isZero(place)) return 'is a point in the sea where 0° and 0° meet: it looks as if it was not filled in';
  const otherWayRound = swapped(place);
  if (isOutside(place)) {
    return otherWayRound && !isOutside({ ...place, ...otherWayRound })
      ? looksSwapped(`in ${countryKey(place)}, the country of the row`)
      : `is outside ${countryKey(place)}, the country of the row`;
  }
  if (cluster === undefined || isUsual(place, cluster)) return undefined;
  if (otherWayRound && isUsual(otherWayRound, cluster)) return looksSwapped('among the others');
  return isAlone(place, cluster) ? 'is far from all others' : undefined;
}

function looksSwapped(where: string): string {
  return `seems to have latitude and longitude swapped: the other way round it is ${where}`;
}

/** Undefined if there is no such point on earth. */
function swapped({ latitude, longitude }: Point): Point | undefined {
  return Math.abs(longitude) > 90 ? undefined : { latitude: longitude, longitude: latitude };
}

function isZero({ latitude, longitude }: Point): boolean {
  return latitude === 0 && longitude === 0;
}

/** Also false if the country is missing or unknown. */
function isOutside(place: StatedPlace): boolean {
  const country = findCountry(place.country ?? '');
  return country !== undefined && !isWithin(country, place);
}

function groupByCountry(places: readonly StatedPlace[]): Map<string, StatedPlace[]> {
  const groups = new Map<string, StatedPlace[]>();
  for (const place of places) {
    const key = countryKey(place);
    if (key !== '') addTo(groups, key, place);
  }
  return groups;
}

function countryKey({ country = '' }: StatedPlace): string {
  return findCountry(country)?.code ?? country.trim().toLowerCase();
}

interface Cluster {
  members: readonly Vector[];
  centre: Vector;
  /** Radians from the centre. */
  reach: number;
}

/** Undefined if there are too few places, or if they are everywhere. */
function clusterOf(places: readonly Point[]): Cluster | undefined {
  if (places.length < fewestPlaces) return undefined;
  const members = places.map(({ latitude, longitude }) => toVector(longitude, latitude));
  // Uses vectors, because longitudes jump at the date line.
  const middle: Vector = [
    median(members.map(([x]) => x)),
    median(members.map(([, y]) => y)),
    median(members.map(([, , z]) => z)),
  ];
  const length = Math.sqrt(dot(middle, middle));
  if (length < leastLength) return undefined;
  const centre: Vector = [middle[0] / length, middle[1] / length, middle[2] / length];
  const typical = median(members.map((member) => angleBetween(member, centre)));
  return { members, centre, reach: Math.max(farAngle, reachFactor * typical) };
}

function isUsual({ latitude, longitude }: Point, { centre, reach }: Cluster): boolean {
  return angleBetween(toVector(longitude, latitude), centre) <= reach;
}

/** Whether hardly any other place is near. Several stations in a second region are no mistake. */
function isAlone({ latitude, longitude }: Point, { members }: Cluster): boolean {
  const place = toVector(longitude, latitude);
  const few = Math.min(mostFew, Math.max(1, Math.floor(members.length * fewShare)));
  let near = 0;
  for (const member of members) {
    if (chord(member, place) <= farAngle) near += 1;
    if (near > few) return false;
  }
  return true;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** With two places, it is unclear which one is far off. */
const fewestPlaces = 3;
const farMeters = 500_000;
const farAngle = farMeters / earthRadiusMeters;
/** A multiple of the median distance from the middle. */
const reachFactor = 5;
/** A share of the places of a list, with a maximum: in a region with more places, the list has stations on purpose. */
const fewShare = 0.02;
const mostFew = 3;
const leastLength = 1e-6;
