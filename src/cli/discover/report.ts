import type { Offer } from '../../protocol/catalog.ts';
import type { OnDiscoverMessage } from '../../protocol/discover-messages.ts';
import { exactTotal } from '../../rules/discover/page-answer.ts';
import { coversResource, findDistance, type Place } from '../../rules/hit.ts';
import { findLowestPrices, findPrices, leastOf } from '../../rules/prices.ts';
import { listRanked } from '../../rules/ranked.ts';
import { counted, renderTable } from '../command.ts';

// The hits as a table, one line per resource. NODE is the publisher, where a consumer would order.

const maxCellLength = 40;

export function renderFound(message: OnDiscoverMessage, near: Place | undefined): string {
  const { catalogs, pagination } = message;
  const found = listRanked(message).map(({ catalog, resource, distanceMeters }) => [
    shorten(resource.descriptor?.name ?? resource.id),
    shorten(catalog.provider.descriptor.name),
    ...(near ? [renderDistance(distanceMeters ?? findDistance({ resource, catalog }, near))] : []),
    renderPrice((catalog.offers ?? []).filter((offer) => coversResource(offer, resource))),
    shorten(catalog.descriptor.name ?? catalog.id),
    catalog.bppId ?? '-',
  ]);
  const header = ['NAME', 'PROVIDER', ...(near ? ['DISTANCE'] : []), 'PRICE', 'CATALOG', 'NODE'];
  return [renderTable(header, found), '', renderCount(found.length, catalogs.length, pagination)].join('\n');
}

function renderCount(resources: number, catalogs: number, pagination: OnDiscoverMessage['pagination']) {
  const found = `${counted(resources, 'resource')} of ${counted(catalogs, 'catalog')}`;
  if (!pagination) return `${found}.`;
  const { offset, total } = pagination;
  const end = offset + resources;
  const next = end < total ? ` --offset ${end} shows the next ones.` : '';
  return end === total && offset === 0
    ? `${found}.`
    : `${found}: ${offset + 1} to ${end} of ${total}${total > exactTotal ? ' or more' : ''}.${next}`;
}

function renderPrice(offers: readonly Offer[]): string {
  const all = findPrices(offers);
  const texts = findLowestPrices(offers).map((lowest) => {
    const { minValue, currency, unit } = lowest;
    const alike = all.filter((one) => one.currency === currency && one.unit === unit);
    const isVarying = alike.length > 1 || minValue !== undefined;
    return `${isVarying ? 'from ' : ''}${leastOf(lowest)} ${currency}${unit && `/${unit}`}`.trim();
  });
  return texts.join(', ') || '-';
}

export function renderDistance(meters: number | undefined): string {
  if (meters === undefined) return '-';
  return meters < 1_000 ? `${Math.round(meters)} m` : `${(meters / 1_000).toFixed(1)} km`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxCellLength ? `${line.slice(0, maxCellLength - 1)}…` : line;
}
