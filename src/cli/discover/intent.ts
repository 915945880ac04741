import { InvalidArgumentError } from 'commander';
import type { DiscoverMessage, Intent, SpatialEntry } from '../../protocol/discover-messages.ts';
import { locationTargets, type Place } from '../../rules/hit.ts';
import { collect, parserOf } from '../arguments.ts';
import { CommandError } from '../command.ts';

// Builds the message of a discover from options (catalog spec: POST /discover).

export interface IntentOptions {
  near?: Place;
  within?: number;
  target?: string[];
  where?: string;
  limit?: number;
  offset?: number;
}

export const usualMeters = 5_000;

export function buildMessage(words: readonly string[], options: IntentOptions): DiscoverMessage {
  const { where, limit, offset } = options;
  const textSearch = words.join(' ').trim();
  const spatial = buildSpatialEntry(options);
  const intent: Intent = {
    ...(textSearch !== '' && { textSearch }),
    ...(where !== undefined && { filters: { type: 'jsonpath', expression: toExpression(where) } }),
    ...(spatial && { spatial: [spatial] }),
  };
  if (Object.keys(intent).length === 0)
    throw new CommandError('Say what to look for: some words, --near LAT,LON, or --where CONDITION.');
  return { intent, ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
}

function buildSpatialEntry({ near, within, target }: IntentOptions): SpatialEntry | undefined {
  if (near === undefined) {
    if (within !== undefined) throw new CommandError('--within needs --near.');
    if (target !== undefined) throw new CommandError('--target needs --near.');
    return undefined;
  }
  const targets = target ?? locationTargets;
  return {
    op: 'S_DWITHIN',
    targets: targets.length === 1 ? (targets[0] ?? '') : targets,
    geometry: { type: 'Point', coordinates: [near.longitude, near.latitude] },
    distanceMeters: within ?? usualMeters,
  };
}

/** Accepts a condition on a resource, `@.a == 1`; on its price, `price <= 20 INR` or `price.energy <= 0.5 EUR`; or an expression with `$`. */
function toExpression(where: string): string {
  const text = where.trim();
  if (text.startsWith('$')) return text;
  if (!/^price\b/.test(text)) return `$.catalogs[*].resources[?${text}]`;
  const conditions = text.split('&&').map((part) => `@.considerations[?${toPriceCondition(part.trim())}]`);
  return `$.catalogs[*].offers[?${conditions.join(' && ')}]`;
}

/** An offer selects its resources. JSONPath has no joins, so a condition is on a price or on a resource. */
function toPriceCondition(text: string): string {
  const [, name, operator, value, currency] =
    /^price(?:\.(\w+))?\s*([<>]=?|==)\s*(\d+(?:\.\d+)?)\s*([A-Z]{3})?$/.exec(text) ?? [];
  const type = name && priceTypes[name];
  if ((name && !type) || value === undefined)
    throw new CommandError(
      `"${text}" is not a condition on a price, such as price <= 20 INR or price.energy <= 0.5 EUR. Kinds: ${Object.keys(priceTypes).join(', ')}. A condition on the price cannot be combined with one on the resource: search for words instead.`,
    );
  const attributes = '@.considerationAttributes';
  return [
    ...(type ? [`${attributes}.type == "${type}"`] : []),
    `${attributes}.value ${operator} ${value}`,
    ...(currency === undefined ? [] : [`${attributes}.currency == "${currency}"`]),
  ].join(' && ');
}

/** Price types in the notation of imports (docs/charging.md): per kWh, hour, hour and session. */
const priceTypes: Record<string, string> = {
  energy: 'ENERGY',
  time: 'TIME',
  parking: 'PARKING_TIME',
  session: 'FLAT',
};

/** `12.97,77.59`: latitude first, as on maps. */
export function parsePlace(text: string): Place {
  const [latitude, longitude, ...others] = text.split(',').map((part) => part.trim());
  const place = { latitude: toNumber(latitude), longitude: toNumber(longitude) };
  if (others.length === 0 && Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180) return place;
  throw new InvalidArgumentError('Use latitude,longitude in degrees, such as 12.97,77.59.');
}

function toNumber(text: string | undefined): number {
  return text !== undefined && /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

const metersPerUnit: Record<string, number> = { m: 1, km: 1_000, mi: 1_609.344, ft: 0.3048 };

export function parseDistance(text: string): number {
  const [, number, unit = 'm'] = /^(\d+(?:\.\d+)?)\s*(m|km|mi|ft)?$/i.exec(text.trim()) ?? [];
  const meters = Number(number) * (metersPerUnit[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isFinite(meters)) return meters;
  throw new InvalidArgumentError('Use a distance such as 5km, 800m or 3mi.');
}

export const collectTargets = collect(
  parserOf(
    (text) => (text.startsWith('$') ? text : undefined),
    `Use a JSONPath from $, such as ${locationTargets[0]}.`,
  ),
);
