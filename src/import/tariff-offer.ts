import { addTo } from '../group.ts';
import type { Offer } from '../protocol/catalog.ts';
import type { Price, PriceType, Tariff } from './station.ts';

// A tariff as an offer (catalog spec: Offer). Each dimension of the tariff (energy, time, parking, session) is one consideration, so that
// filters can select it; its components are the prices of that dimension in their order. docs/charging.md names every member.

const context = 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld';

/** The offers of a station: equal prices of several chargers are one offer. */
export function offersOf(stationId: string, tariffs: readonly Tariff[]): Offer[] {
  const offers = new Map<string, Offer>();
  const ids = new Set<string>();
  for (const { chargerIds, ...tariff } of tariffs) {
    if (chargerIds.length === 0) continue;
    const key = JSON.stringify(tariff);
    const known = offers.get(key);
    if (known) known.resourceIds?.push(...chargerIds);
    else {
      const id = freeIdOf(stationId, tariff.id, ids);
      ids.add(id);
      offers.set(key, tariffOffer(id, { ...tariff, chargerIds }, [...chargerIds]));
    }
  }
  return [...offers.values()];
}

/** Two tariffs with the same id may differ, and a tariff may have no id. */
function freeIdOf(stationId: string, tariffId: string | undefined, ids: ReadonlySet<string>): string {
  const usual = `${stationId}${mark}${tariffId ?? 1}`;
  if (!ids.has(usual)) return usual;
  for (let number = 2; ; number += 1) {
    const id = `${stationId}${mark}${tariffId === undefined ? number : `${tariffId}-${number}`}`;
    if (!ids.has(id)) return id;
  }
}

/** Offers with other ids are from the operator. */
export function isImportedOffer({ id }: { id: string }): boolean {
  return id.includes(mark);
}

const mark = ':tariff:';

function tariffOffer(id: string, tariff: Tariff, resourceIds: string[]): Offer {
  const { name, description, code, validity } = tariff;
  const descriptor = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { shortDesc: description }),
    ...(code !== undefined && { code }),
  };
  return {
    id,
    ...(Object.keys(descriptor).length > 0 && { descriptor }),
    resourceIds,
    considerations: considerationsOf(tariff),
    ...(validity && { validity }),
  };
}

function considerationsOf({ prices, currency, timeZone }: Tariff): NonNullable<Offer['considerations']> {
  const types = new Map<string, Price[]>();
  for (const price of prices) addTo(types, typeOf(price), price);
  return [...types].map(([type, group]) => {
    const values = group.map(({ value }) => value);
    const [value, minValue] = [Math.max(...values), Math.min(...values)];
    const hasTimes = group.some(({ restrictions = {} }) => 'startTime' in restrictions);
    return {
      id: type.toLowerCase().replaceAll('_', '-'),
      considerationAttributes: {
        '@context': context,
        '@type': 'PriceSpecification',
        type,
        value,
        ...(minValue < value && { minValue }),
        currency,
        unit: units[group[0]?.type ?? 'FLAT'],
        ...(hasTimes && timeZone !== undefined && { timeZone }),
        components: group.map((price) => componentOf(price, type, currency)),
      },
    };
  });
}

/** Marks prices of reservations, so that they are not mistaken for prices of charging. */
function typeOf({ type, restrictions }: Price): string {
  const reservation = restrictions?.reservation;
  return typeof reservation === 'string' ? `${reservation}_${type}` : type;
}

function componentOf(
  { type: dimension, value, step, restrictions, ...tax }: Price,
  type: string,
  currency: string,
) {
  const stepUnit = dimension === 'ENERGY' ? 'Wh' : 's';
  return {
    type,
    value,
    currency,
    unit: units[dimension],
    ...(step !== undefined && units[dimension] !== 'session' && { step: { value: step, unit: stepUnit } }),
    ...tax,
    ...(restrictions && { restrictions }),
  };
}

/** Fixed units, so that a filter means the same for every offer. */
const units: Record<PriceType, string> = {
  ENERGY: 'kWh',
  TIME: 'h',
  PARKING_TIME: 'h',
  FLAT: 'session',
  MINIMUM: 'session',
  MAXIMUM: 'session',
};
