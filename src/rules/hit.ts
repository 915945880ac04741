import type { Offer, ReceivedCatalog, Resource } from '../protocol/catalog.ts';
import { isJsonObject, type Json } from '../protocol/json.ts';
import { angleBetween, earthRadiusMeters, toVector } from './geometry/sphere.ts';
import { isValidAt } from './time-period.ts';

// Parses a hit of an on_discover: its prices, its distance, and its availability at a given time.

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

export interface Price {
  /** The highest, if it varies. */
  value: number;
  /** The lowest, if it varies. */
  minValue?: number;
  /** Empty if the consideration names none. */
  currency: string;
  /** Unit of the price: `kWh`, `min`, `session`, `min parking`; empty if the consideration has none. */
  unit: string;
  offerId: string;
}

/** A reservation price, or the minimum or maximum of a session, is not a price of the resource. */
const asides = /^(RESERVATION|MINIMUM|MAXIMUM)/;

/** The prices in a list of offers. `value` and `currency` are usual; charging adds `unit` and `minValue` (docs/charging.md). */
export function findPrices(offers: readonly Offer[]): Price[] {
  return offers.flatMap(({ id: offerId, considerations = [] }) =>
    considerations.flatMap(({ considerationAttributes }) => {
      const { value, minValue, currency, unit, type }: Record<string, unknown> =
        considerationAttributes ?? {};
      const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      if (typeof amount !== 'number' || !Number.isFinite(amount)) return [];
      if (typeof type === 'string' && asides.test(type)) return [];
      const units = [typeof unit === 'string' ? unit : '', type === 'PARKING_TIME' ? 'parking' : ''];
      return [
        {
          value: amount,
          ...(typeof minValue === 'number' && minValue < amount && { minValue }),
          currency: typeof currency === 'string' ? currency : '',
          unit: units.join(' ').trim(),
          offerId,
        },
      ];
    }),
  );
}

/** The lowest price of each currency and unit; energy prices first, the others in the order in which they appear. */
export function findLowestPrices(offers: readonly Offer[]): Price[] {
  const lowest = new Map<string, Price>();
  for (const price of findPrices(offers)) {
    const of = JSON.stringify([price.currency, price.unit]);
    const known = lowest.get(of);
    if (!known || leastOf(price) < leastOf(known)) lowest.set(of, price);
  }
  const isOfEnergy = ({ unit }: Price) => Number(unit === 'kWh');
  return [...lowest.values()].sort((a, b) => isOfEnergy(b) - isOfEnergy(a));
}

export function leastOf({ value, minValue = value }: Price): number {
  return minValue;
}

/** `unknown`: the answer has no offer for it, so its availability is unknown. */
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

/** Meters to the nearest point of the resource, or else of its provider; undefined if neither names a point. */
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

/** On great circles of the same sphere as S_DWITHIN. */
export function metersBetween(from: Place, to: Place): number {
  const vectorOf = ({ longitude, latitude }: Place) => toVector(longitude, latitude);
  return earthRadiusMeters * angleBetween(vectorOf(from), vectorOf(to));
}
