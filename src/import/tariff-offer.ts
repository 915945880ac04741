import type { Offer } from '../protocol/catalog.ts';
import type { Price, PriceType, Tariff } from './station.ts';

// A tariff as an offer (catalog spec: Offer). Each dimension of the tariff (energy, time, parking, session) is one consideration, so that a
// filter can ask for one of them; its components are the prices of that dimension in their order. docs/charging.md names every member.

const context = 'https://schema.beckn.io/PriceSpecification/v1/context.jsonld';

/** Ids of offers that an import makes. Offers with other ids were made by the operator. */
export function offerIdOf(stationId: string, tariffId: string): string {
  return `${stationId}${mark}${tariffId}`;
}

export function isImportedOffer({ id }: { id: string }): boolean {
  return id.includes(mark);
}

const mark = ':tariff:';

export function tariffOffer(id: string, tariff: Tariff, resourceIds: string[]): Offer {
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

type Considerations = NonNullable<Offer['considerations']>;

/** By the prices of a tariff, then by currency and time zone: thousands of stations have the same tariff, and share what is made of it. */
const made = new WeakMap<readonly Price[], Map<string, Considerations>>();

function considerationsOf(tariff: Tariff): Considerations {
  const { prices, currency, timeZone = '' } = tariff;
  const known = made.get(prices) ?? new Map<string, Considerations>();
  const key = `${currency} ${timeZone}`;
  const considerations = known.get(key) ?? makeConsiderations(tariff);
  made.set(prices, known.set(key, considerations));
  return considerations;
}

function makeConsiderations({ prices, currency, timeZone }: Tariff): Considerations {
  const types = new Map<string, Price[]>();
  for (const price of prices) {
    const type = typeOf(price);
    types.set(type, [...(types.get(type) ?? []), price]);
  }
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

/** What a reservation costs must not be taken for the price of charging. */
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

/** Always these, so that a filter on the value means the same for every offer. */
const units: Record<PriceType, string> = {
  ENERGY: 'kWh',
  TIME: 'h',
  PARKING_TIME: 'h',
  FLAT: 'session',
  MINIMUM: 'session',
  MAXIMUM: 'session',
};
