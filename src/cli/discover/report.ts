import type { Offer, ReceivedCatalog, Resource } from '../../protocol/catalog.ts';
import type { OnDiscoverMessage } from '../../protocol/discover-messages.ts';
import { isJsonObject, type Json } from '../../protocol/json.ts';
import { counted, renderTable } from '../command.ts';
import type { Place } from './intent.ts';

// What was found, as a table: one line per resource. The node is who publishes it: with whom a consumer would order.

const maxCellLength = 40;

export function renderFound(
  { catalogs, pagination, ranking = [] }: OnDiscoverMessage,
  near: Place | undefined,
): string {
  const nameOf = (catalogId: string, resourceId: string) => JSON.stringify([catalogId, resourceId]);
  const ranked = new Map(
    ranking.map((each, place) => [nameOf(each.catalogId, each.resourceId), { ...each, place }]),
  );
  const found = catalogs
    .flatMap((catalog) => (catalog.resources ?? []).map((resource) => ({ catalog, resource })))
    .map(({ catalog, resource }) => {
      const { place = ranking.length, distanceMeters } = ranked.get(nameOf(catalog.id, resource.id)) ?? {};
      const cells = [
        shorten(resource.descriptor?.name ?? resource.id),
        shorten(catalog.provider.descriptor.name),
        ...(near ? [renderDistance(distanceMeters ?? distanceTo(near, catalog, resource))] : []),
        renderPrice(offersOf(catalog, resource)),
        shorten(catalog.descriptor.name ?? catalog.id),
        catalog.bppId ?? '-',
      ];
      return { place, cells };
    })
    // The order across catalogs is that of the ranking, where the service sends one.
    .sort((a, b) => a.place - b.place)
    .map(({ cells }) => cells);
  const header = ['NAME', 'PROVIDER', ...(near ? ['DISTANCE'] : []), 'PRICE', 'CATALOG', 'NODE'];
  return [renderTable(header, found), '', renderCount(found.length, catalogs.length, pagination)].join('\n');
}

function renderCount(
  resources: number,
  catalogs: number,
  pagination: OnDiscoverMessage['pagination'],
): string {
  const found = `${counted(resources, 'resource')} of ${counted(catalogs, 'catalog')}`;
  if (!pagination) return `${found}.`;
  const { offset, total } = pagination;
  const end = offset + resources;
  const next = end < total ? ` --offset ${end} shows the next ones.` : '';
  return end === total && offset === 0
    ? `${found}.`
    : `${found}: ${offset + 1} to ${end} of ${total}${total > exactTotal ? ' or more' : ''}.${next}`;
}

/** A total above this counts only what was seen. */
const exactTotal = 1_000;

/** Catalog spec, Offer: without resourceIds an offer applies to all resources of the provider. */
function offersOf({ offers = [] }: ReceivedCatalog, { id }: Resource): Offer[] {
  return offers.filter(({ resourceIds }) => resourceIds === undefined || resourceIds.includes(id));
}

/**
 * The lowest price of each currency and unit; what energy costs first. Which members a consideration has is the business of its domain; value and
 * currency are usual, unit is that of our imports (docs/charging.md).
 */
function renderPrice(offers: readonly Offer[]): string {
  const lowest = new Map<string, { amount: number; isVarying: boolean }>();
  for (const { considerations = [] } of offers) {
    for (const { considerationAttributes: attributes } of considerations) {
      const { value, minValue, currency, unit, type }: Record<string, unknown> = attributes ?? {};
      const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      // What a reservation costs, or a session at the least, is no price of charging.
      const isAside = typeof type === 'string' && /^(RESERVATION|MINIMUM|MAXIMUM)/.test(type);
      if (typeof amount !== 'number' || !Number.isFinite(amount) || isAside) continue;
      const of = `${currency ?? ''}${unit === undefined ? '' : `/${unit}`}${type === 'PARKING_TIME' ? ' parking' : ''}`;
      const known = lowest.get(of);
      const least = Math.min(typeof minValue === 'number' ? minValue : amount, known?.amount ?? amount);
      lowest.set(of, { amount: least, isVarying: known !== undefined || least < amount });
    }
  }
  const texts = [...lowest]
    .sort(([one], [other]) => Number(other.endsWith('/kWh')) - Number(one.endsWith('/kWh')))
    .map(([of, { amount, isVarying }]) => `${isVarying ? 'from ' : ''}${amount} ${of}`.trim());
  return texts.join(', ') || '-';
}

/** To the nearest point that the resource or its provider names; undefined where there is none. */
function distanceTo(near: Place, { provider }: ReceivedCatalog, resource: Resource): number | undefined {
  const own = pointsIn(resource.resourceAttributes as Json | undefined);
  const points = own.length > 0 ? own : pointsIn(provider as Json);
  const meters = points.map((point) => metersBetween(near, point));
  return meters.length > 0 ? Math.min(...meters) : undefined;
}

function pointsIn(value: Json | undefined): Place[] {
  if (Array.isArray(value)) return value.flatMap(pointsIn);
  if (!isJsonObject(value)) return [];
  const { type, coordinates } = value;
  if (type === 'Point' && Array.isArray(coordinates)) {
    const [longitude, latitude] = coordinates;
    return typeof longitude === 'number' && typeof latitude === 'number' ? [{ latitude, longitude }] : [];
  }
  return Object.values(value).flatMap(pointsIn);
}

const earthRadiusMeters = 6_371_008.8;

/** On great circles of the sphere that S_DWITHIN is measured on. */
export function metersBetween(from: Place, to: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const [south, north] = [radians(from.latitude), radians(to.latitude)];
  const half = (angle: number) => Math.sin(angle / 2) ** 2;
  const haversine =
    half(north - south) + Math.cos(south) * Math.cos(north) * half(radians(to.longitude - from.longitude));
  return 2 * earthRadiusMeters * Math.asin(Math.min(1, Math.sqrt(haversine)));
}

export function renderDistance(meters: number | undefined): string {
  if (meters === undefined) return '-';
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxCellLength ? `${line.slice(0, maxCellLength - 1)}…` : line;
}
