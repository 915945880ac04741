import { readCurrency } from './cell-values.ts';
import type { Mapping } from './mapping.ts';
import type { RowReader } from './row-reader.ts';
import type { Price, PriceType, Tariff } from './station.ts';

// The prices of a row, or of one of its connectors, by the `prices` of a mapping. A cell without a price means unknown, not free.

export function mapPrices(
  { prices: section }: Mapping,
  reader: RowReader,
  chargerId: string,
): Tariff | undefined {
  const read = (name: string) => {
    const field = section.get(name);
    const result = field && reader.read(field);
    return result?.kind === 'value' ? result.value : undefined;
  };
  const text = (name: string) => {
    const value = read(name);
    return value === undefined ? undefined : String(value);
  };
  const tax = taxOf(read('taxIncluded'), read('taxPercent'));
  const prices = dimensions.flatMap(([name, type, factor]): Price[] => {
    const value = read(name);
    if (typeof value !== 'number') return [];
    if (value >= 0) return [{ type, value: Number((value * factor).toFixed(6)), ...tax }];
    reader.report('is below zero', { column: `prices.${name}`, value: String(value) });
    return [];
  });
  if (prices.length === 0) return undefined;
  const value = text('currency');
  const currency = readCurrency(value);
  if (currency === undefined) {
    const why = value === undefined ? 'has no currency' : 'is not a currency such as EUR';
    reader.report(`${why}: the price is missing`, { column: 'prices.currency', value });
    return undefined;
  }
  const [name, startDate, endDate] = ['name', 'validFrom', 'validUntil'].map(text);
  return {
    ...(name !== undefined && { name }),
    currency,
    prices,
    ...((startDate ?? endDate) !== undefined && {
      validity: { ...(startDate && { startDate }), ...(endDate && { endDate: lastInstant(endDate) }) },
    }),
    chargerIds: [chargerId],
  };
}

const dimensions: readonly [name: string, type: PriceType, factor: number][] = [
  ['perKwh', 'ENERGY', 1],
  ['perMinute', 'TIME', 60],
  ['perHour', 'TIME', 1],
  ['perSession', 'FLAT', 1],
  ['parkingPerMinute', 'PARKING_TIME', 60],
  ['parkingPerHour', 'PARKING_TIME', 1],
];

function taxOf(included: unknown, percent: unknown): Pick<Price, 'taxIncluded' | 'taxPercent'> {
  return {
    ...(typeof included === 'boolean' && { taxIncluded: included }),
    ...(typeof percent === 'number' && { taxPercent: percent }),
  };
}

/** A validity until a day includes that day, as in TimePeriod. */
function lastInstant(end: string): string {
  return end.replace(/T00:00:00Z$/, '');
}
