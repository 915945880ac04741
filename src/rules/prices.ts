import type { Offer } from '../protocol/catalog.ts';

// Reads the prices of offers. Imports only types, because the page of the console bundles this file.

export interface Price {
  /** The highest, if it varies. */
  value: number;
  /** The lowest, if it varies. */
  minValue?: number;
  /** Empty if the consideration has none. */
  currency: string;
  /** Unit of the price: `kWh`, `min`, `session`, `min parking`; empty if the consideration has none. */
  unit: string;
  offerId: string;
}

/** The price of a reservation, and the least or most that a session costs, are not prices of the resource. */
const asides = /^(RESERVATION|MINIMUM|MAXIMUM)/;

/** The prices in a list of offers. `value` and `currency` are usual, `unit` and `minValue` are those of charging (docs/charging.md). */
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

/** The lowest price of each currency and unit; what energy costs first, the others in the order in which they appear. */
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
