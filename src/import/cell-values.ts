import type { Json } from '../protocol/json.ts';

// Reads values from cells and from members of JSON. Undefined means that the value is unreadable.

export function textOf(value: Json | undefined): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

/** `7.4`, `1,250.5`; with a decimal comma `7,4`, `1.250,5` and, without a comma, `7.4`. */
export function readNumber(text: string, decimalComma = false): number | undefined {
  const [grouped, separator, point] = decimalComma
    ? [/^[+-]?\d{1,3}(\.\d{3})+,\d+$/, '.', ',']
    : [/^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/, ',', '.'];
  const ungrouped = grouped.test(text) ? text.replaceAll(separator, '') : text;
  const plain = ungrouped.replace(point, '.');
  const number = /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

export function readCurrency(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z]{3}$/.test(text) ? text.toUpperCase() : undefined;
}

export const powerUnits = ['W', 'kW', 'MW'] as const;
export type PowerUnit = (typeof powerUnits)[number];

/** Always in kW, so that a filter means the same for every charger. */
export interface Power {
  value: number;
  unit: 'kW';
}

export function powerIn(unit: PowerUnit, value: number): Power {
  const kilowatts = { W: value / 1_000, kW: value, MW: value * 1_000 }[unit];
  return { value: Number(kilowatts.toFixed(6)), unit: 'kW' };
}

/** A number in the unit of its column, unless the cell has a unit: `22`, `22 kW`, `3700W`. */
export function readPower(text: string, unit: PowerUnit, decimalComma = false): Power | undefined {
  const [, number = '', given] = /^(.*?)\s*([kM]?W)?$/i.exec(text) ?? [];
  const value = readNumber(number, decimalComma);
  const named = powerUnits.find((name) => name.toLowerCase() === given?.toLowerCase());
  return value === undefined || value < 0 ? undefined : powerIn(named ?? unit, value);
}

/** Converts a date, in ISO 8601 or in a format of YYYY, MM and DD, to its first instant in UTC. */
export function readDateTime(text: string, format = 'YYYY-MM-DD'): string | undefined {
  const [, date = '', time, zone = 'Z'] = dateTime.exec(text) ?? [];
  if (time !== undefined) return isDay(date) ? asInstant(`${date}T${time}${zone}`) : undefined;
  const day = readDay(text, format);
  return day === undefined ? undefined : `${day}T00:00:00Z`;
}

const dateTime = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/i;

function readDay(text: string, format: string): string | undefined {
  const pattern = format
    .replace(/[^A-Za-z]/g, (sign) => `\\${sign}`)
    .replace('YYYY', '(?<year>\\d{4})')
    .replace('MM', '(?<month>\\d{1,2})')
    .replace('DD', '(?<day>\\d{1,2})');
  const { year = '', month = '', day = '' } = new RegExp(`^${pattern}$`).exec(text)?.groups ?? {};
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(date) ? date : undefined;
}

/** Whether the calendar has this day: 2023-02-29 does not exist. */
function isDay(date: string): boolean {
  return asInstant(`${date}T00:00:00Z`)?.startsWith(date) ?? false;
}

function asInstant(text: string): string | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace('.000Z', 'Z');
}
