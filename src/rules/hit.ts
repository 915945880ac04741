import type { Offer, ReceivedCatalog, Resource } from '../protocol/catalog.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';
import { angleBetween, earthRadiusMeters, toVector } from './geometry/sphere.ts';
import { isValidAt } from './time-period.ts';

// Reads a hit of an on_discover: its distance, and whether it is available at a given time. prices.ts reads its prices.

export interface Hit {
  resource: Resource;
  offers: readonly Offer[];
  catalog: Omit<ReceivedCatalog, 'resources' | 'offers'>;
}

export interface Place {
  latitude: number;
  longitude: number;
}

/** Paths of locations in an intent: that of the provider, or, for chargers and other energy resources, of the resource itself. */
export const locationTargets = [
  '$.catalogs[*].provider.availableAt[*].geo',
  '$.catalogs[*].resources[*].resourceAttributes.attributes.location.geo',
];

/** Catalog spec, Offer: without resourceIds an offer applies to all resources of the provider. */
export function coversResource({ resourceIds }: Offer, { id }: Resource): boolean {
  return resourceIds === undefined || resourceIds.includes(id);
}

/** `unknown`: the answer has no offer for it, so nothing says whether it can be had. */
export interface Availability {
  state: 'available' | 'unavailable' | 'unknown';
  reason?: string;
  offers: Offer[];
}

export function findAvailability({ catalog, offers }: Hit, at: Date): Availability {
  const applying = offers.filter(({ validity }) => isValidAt(validity, at));
  const reason = findObstacle(catalog, { offers, applying }, at);
  if (reason !== undefined) return { state: 'unavailable', reason, offers: [] };
  if (offers.length === 0) return { state: 'unknown', reason: 'The answer has no offer for it.', offers: [] };
  return { state: 'available', offers: applying };
}

function findObstacle(
  { isActive, validity }: Hit['catalog'],
  { offers, applying }: { offers: readonly Offer[]; applying: readonly Offer[] },
  at: Date,
): string | undefined {
  if (isActive === false) return 'Its catalog is paused.';
  if (!isValidAt(validity, at)) return 'Its catalog is not valid at that time.';
  return offers.length > 0 && applying.length === 0 ? 'None of its offers applies at that time.' : undefined;
}

/** Meters to the nearest point that the resource names, or else its provider; undefined where neither names a point. */
export function findDistance({ resource, catalog }: Pick<Hit, 'resource' | 'catalog'>, from: Place) {
  const own = pointsIn(resource.resourceAttributes as Json | undefined);
  const points = own.length > 0 ? own : pointsIn(catalog.provider as Json);
  // Not Math.min of all: a hostile catalog may have more points than a call can have arguments.
  const nearest = points.reduce((least, to) => Math.min(least, metersBetween(from, to)), Number.MAX_VALUE);
  return points.length > 0 ? nearest : undefined;
}

function pointsIn(value: Json | undefined): Place[] {
  if (Array.isArray(value)) return value.flatMap(pointsIn);
  if (!isJsonObject(value)) return [];
  const { type, coordinates } = value;
  if (type === 'Point' && Array.isArray(coordinates)) {
    const [longitude, latitude] = coordinates;
    const isOnEarth = (value: unknown, most: number): value is number =>
      typeof value === 'number' && Math.abs(value) <= most;
    return isOnEarth(longitude, 180) && isOnEarth(latitude, 90) ? [{ latitude, longitude }] : [];
  }
  return Object.values(value).flatMap(pointsIn);
}

/** On great circles of the sphere that S_DWITHIN is measured on. */
export function metersBetween(from: Place, to: Place): number {
  const vectorOf = ({ longitude, latitude }: Place) => toVector(longitude, latitude);
  return earthRadiusMeters * angleBetween(vectorOf(from), vectorOf(to));
}
