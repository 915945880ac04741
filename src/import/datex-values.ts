import type { JsonObject } from '../protocol/json.ts';
import { enumOf, memberOf } from './datex-members.ts';
import type { Price, PriceType, Report } from './station.ts';

// Maps the enumerations of DATEX II to those of the EV charger type and of OCPI. Publishers spell them differently (`iec62196T2COMBO`,
// `iec62196_T2_Combo`), so only letters and digits count.

export function plainName(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

const otherTypes = [
  ...['teslar', 'teslaconnectoreurope', 'yazaki', 'cee3', 'cee5', 'iec62196t3a', 'iec62196t3c', 'other'],
  ...['', ...'abcdefghijklmno'].map((letter) => `domestic${letter}`),
  ...['iec60309x2three16', 'iec60309x2three32', 'iec60309x2three64', 'iec60309x2single16'],
  ...['pantographbottomup', 'pantographtopdown'],
];

/** By the plain name. */
export const connectorTypes: ReadonlyMap<string, string> = new Map([
  ['iec62196t1', 'Type1'],
  ['iec62196t1combo', 'CCS1'],
  ['iec62196t2', 'Type2'],
  ['iec62196t2combo', 'CCS2'],
  ['chademo', 'CHAdeMO'],
  ['teslas', 'NACS'],
  ['teslaconnectoramerica', 'NACS'],
  ...otherTypes.map((name): [string, string] => [name, 'Other']),
]);

/** Written connector types; all others become `other`. */
export const writtenConnectors: Record<string, string> = {
  Type1: 'iec62196T1',
  CCS1: 'iec62196T1COMBO',
  Type2: 'iec62196T2',
  CCS2: 'iec62196T2COMBO',
  CHAdeMO: 'chademo',
  NACS: 'teslaS',
};

export const availabilities: ReadonlyMap<string, string> = new Map([
  ['available', 'AVAILABLE'],
  ['charging', 'CHARGING'],
  ['occupied', 'BLOCKED'],
  ['blocked', 'BLOCKED'],
  ['reserved', 'RESERVED'],
  ['faulted', 'OUTOFORDER'],
  ['outoforder', 'OUTOFORDER'],
  ['outofstock', 'INOPERATIVE'],
  ['inoperative', 'INOPERATIVE'],
  ['unavailable', 'INOPERATIVE'],
  ['unknown', 'UNKNOWN'],
]);

export const writtenStatuses: Record<string, string> = {
  AVAILABLE: 'available',
  CHARGING: 'charging',
  BLOCKED: 'occupied',
  RESERVED: 'reserved',
  OUTOFORDER: 'faulted',
  INOPERATIVE: 'unavailable',
};

/** By the plain name: the dimension, and the number of units in ours. */
const priceTypes: ReadonlyMap<string, [type: PriceType, factor: number]> = new Map([
  ['priceperkwh', ['ENERGY', 1]],
  ['priceperminute', ['TIME', 60]],
  ['priceperhour', ['TIME', 1]],
  ['pricepersession', ['FLAT', 1]],
  ['flatrate', ['FLAT', 1]],
  ['baseprice', ['FLAT', 1]],
]);

export function energyRates(prices: readonly JsonObject[], report: Report): Price[] {
  return prices.flatMap((price) => {
    const name = enumOf(memberOf(price, 'priceType')) ?? '';
    const [type, factor = 1] = priceTypes.get(plainName(name)) ?? [];
    const value = memberOf(price, 'value');
    if (type === undefined || typeof value !== 'number' || value < 0) {
      report('is not a price', { column: 'energyPrice', value: JSON.stringify(price) });
      return [];
    }
    const [included, percent] = [memberOf(price, 'taxIncluded'), memberOf(price, 'taxRate')];
    const times = memberOf(price, 'timeBasedApplicability');
    const [from, to] = [memberOf(times, 'fromMinute'), memberOf(times, 'toMinute')];
    // Publishers write a toMinute of 0 for "no end".
    const restrictions = {
      ...(typeof from === 'number' && from > 0 && { minDuration: from * 60 }),
      ...(typeof to === 'number' && to > 0 && { maxDuration: to * 60 }),
    };
    return [
      {
        type,
        value: Number((value * factor).toFixed(8)),
        ...(typeof included === 'boolean' && { taxIncluded: included }),
        ...(typeof percent === 'number' && { taxPercent: percent }),
        ...(Object.keys(restrictions).length > 0 && { restrictions }),
      },
    ];
  });
}
