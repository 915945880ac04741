import type { Geometry } from 'geojson';
import type { FindAnswer } from '../../../../src/console/answers/find.ts';
import { findPrices, leastOf, type Price } from '../../../../src/rules/prices.ts';
import { listRanked } from '../../../../src/rules/ranked.ts';
import type { Condition, FindQuery } from '../../search/query.ts';

type Catalog = FindAnswer['catalogs'][number];
type Resource = NonNullable<Catalog['resources']>[number];
type Offer = NonNullable<Catalog['offers']>[number];

export interface Found {
  key: string;
  name: string;
  resource: Resource;
  catalog: Catalog;
  offers: Offer[];
  prices: Price[];
  places: Place[];
  shapes: Geometry[];
  meters?: number;
}

export interface ChooseProps {
  found: readonly Found[];
  chosen?: string;
  choose(key: string | undefined): void;
}

export interface Place {
  latitude: number;
  longitude: number;
}

export function listFound(answer: FindAnswer, { area, conditions }: FindQuery): Found[] {
  const ofOffers = conditions.filter(({ on }) => on === 'offer');
  return listRanked(answer)
    .map(({ catalog, resource, distanceMeters }) => {
      const found = toFound(catalog, resource);
      return area?.kind === 'circle' ? { ...found, meters: distanceMeters } : found;
    })
    .filter(({ offers }) => ofOffers.every((condition) => hasOffer(offers, condition)));
}

export const sortings = ['relevance', 'distance', 'price'] as const;
export type Sorting = (typeof sortings)[number];

/** Hits without a distance or price come last, in the order of the answer. Prices are compared as numbers: most searches find one currency. */
export function sortFound(found: readonly Found[], by: Sorting): Found[] {
  if (by === 'relevance') return [...found];
  const keyOf = ({ meters, prices: [cheapest] }: Found) =>
    (by === 'distance' ? meters : cheapest && leastOf(cheapest)) ?? Infinity;
  return [...found].sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    return a === b ? 0 : a - b;
  });
}

function toFound(catalog: Catalog, resource: Resource): Found {
  // An offer without resourceIds applies to all resources of the provider.
  const offers = (catalog.offers ?? []).filter(
    ({ resourceIds }) => resourceIds?.includes(resource.id) ?? true,
  );
  const own = geometriesIn(resource.resourceAttributes);
  const shapes = own.length > 0 ? own : geometriesIn(catalog.provider.availableAt);
  return {
    key: `${catalog.bppId ?? ''}|${catalog.id}|${resource.id}`,
    name: resource.descriptor?.name ?? resource.id,
    resource,
    catalog,
    offers,
    prices: findPrices(offers).sort(byUnitAndValue),
    places: shapes.flatMap(placeOf),
    shapes: shapes.filter(({ type }) => type !== 'Point'),
  };
}

/** The price per kWh describes a charger better than a price per minute or session. */
function byUnitAndValue(one: Price, other: Price): number {
  const rank = ({ unit }: Price) => (unit === '' || unit === 'kWh' ? 0 : 1);
  return rank(one) - rank(other) || leastOf(one) - leastOf(other);
}

export function spellPrice({ value, minValue, currency, unit }: Price): string {
  const range = [minValue, value].filter((each) => each !== undefined);
  const amount = range.map((each) => spellAmount(each, currency)).join(' to ');
  return unit === '' ? amount : `${amount} per ${unit}`;
}

function spellAmount(value: number, currency: string): string {
  try {
    if (currency) return new Intl.NumberFormat('en', { style: 'currency', currency }).format(value);
  } catch {
    // Intl knows only currencies of ISO 4217; others are shown unchanged.
  }
  return `${value} ${currency}`.trim();
}

function hasOffer(offers: readonly Offer[], { path, operator, value }: Condition): boolean {
  return offers
    .flatMap((offer) => valuesAt(offer, path))
    .some((found) => {
      if (operator === '==') return found === value;
      if (typeof found !== 'number' || typeof value !== 'number') return false;
      return operator === '>=' ? found >= value : found <= value;
    });
}

/** The values at a path of members and `[*]`, in the notation of the API. */
export function valuesAt(root: unknown, path: string): unknown[] {
  const segments = path.match(/\[\*\]|\['[^']*'\]|\.[^.[]+/g) ?? [];
  return segments.reduce<unknown[]>(
    (values, segment) => {
      if (segment === '[*]') return values.flatMap((value) => (Array.isArray(value) ? value : []));
      const name = segment.replace(/^\.|^\['|'\]$/g, '');
      return values
        .map((value) => (value as Record<string, unknown> | undefined)?.[name])
        .filter((value) => value !== undefined);
    },
    [root],
  );
}

const geometryTypes = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'];

function geometriesIn(value: unknown): Geometry[] {
  if (Array.isArray(value)) return value.flatMap(geometriesIn);
  if (typeof value !== 'object' || value === null) return [];
  const { type, coordinates } = value as { type?: unknown; coordinates?: unknown };
  if (geometryTypes.includes(String(type)) && Array.isArray(coordinates)) return [value as Geometry];
  return Object.values(value).flatMap(geometriesIn);
}

function placeOf(geometry: Geometry): Place[] {
  const positions = positionsIn('coordinates' in geometry ? geometry.coordinates : []);
  if (positions.length === 0) return [];
  const mean = (at: 0 | 1) =>
    positions.reduce((sum, position) => sum + (position[at] ?? 0), 0) / positions.length;
  return [{ longitude: mean(0), latitude: mean(1) }];
}

function positionsIn(value: unknown): number[][] {
  if (!Array.isArray(value)) return [];
  return typeof value[0] === 'number' ? [value as number[]] : value.flatMap(positionsIn);
}
