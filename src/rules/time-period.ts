import type { TimePeriod } from '../protocol/catalog.ts';
import { isDate, isTimeOfDay, parseInstant } from '../protocol/time.ts';

// When a catalog or an offer is valid (catalog spec: Catalog, validity). Decided: a date without a time is the whole UTC day; bounds are inclusive,
// missing ones open; startTime and endTime are a daily window, in UTC unless an offset is given, and may cross midnight.

/** Whether a period includes an instant. A period with an unreadable bound includes nothing. */
export function isValidAt(period: TimePeriod | undefined, instant: Date): boolean {
  return isWithin(boundsOf(period), instant);
}

export function isWithin({ from, until, window }: PeriodBounds, instant: Date): boolean {
  const time = instant.getTime();
  return (
    (from === undefined || time >= from.getTime()) &&
    (until === undefined || time <= until.getTime()) &&
    (window === undefined || modulo(time - window.start, dayMs) <= window.length)
  );
}

/** The next moment, in milliseconds, when a period may start or stop to include the time; Infinity: never. */
export function nextChangeOf({ from, until, window }: PeriodBounds, instant: Date): number {
  const time = instant.getTime();
  const nextAt = (timeOfDay: number) => time + (modulo(timeOfDay - time, dayMs) || dayMs);
  const changes = [
    ...(from ? [from.getTime()] : []),
    ...(until ? [until.getTime() + 1] : []),
    ...(window ? [nextAt(window.start), nextAt(window.start + window.length + 1)] : []),
  ];
  return Math.min(...changes.filter((change) => change > time));
}

/** A period as instants, inclusive, and a daily window: values that an index can compare. */
export interface PeriodBounds {
  from?: Date;
  until?: Date;
  /** Milliseconds: the start from midnight UTC, and the length. */
  window?: { start: number; length: number };
}

export function boundsOf(period: TimePeriod | undefined): PeriodBounds {
  const { startDate, endDate, startTime, endTime } = period ?? {};
  const from = startDate === undefined ? undefined : firstMoment(startDate);
  const until = endDate === undefined ? undefined : lastMoment(endDate);
  const window = windowOf(startTime, endTime);
  if (Number.isNaN((from ?? 0) + (until ?? 0) + (window?.start ?? 0) + (window?.length ?? 0))) return never;
  return {
    ...(from !== undefined && { from: instantOf(from) }),
    ...(until !== undefined && { until: instantOf(until) }),
    ...(window !== undefined && { window }),
  };
}

const dayMs = 24 * 60 * 60 * 1000;
const never: PeriodBounds = { from: new Date(1), until: new Date(0) };

/** Limited to years of four digits: an offset from UTC can lead to others, which databases do not read as written. */
function instantOf(time: number): Date {
  return new Date(Math.min(Math.max(time, firstInstant), lastInstant));
}

const firstInstant = Date.parse('0001-01-01T00:00:00Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** NaN if the text is no date. */
function firstMoment(text: string): number {
  return isDate(text) ? Date.parse(text) : (parseInstant(text)?.getTime() ?? Number.NaN);
}

function lastMoment(text: string): number {
  return isDate(text) ? Date.parse(text) + dayMs - 1 : firstMoment(text);
}

/** A missing end of the window is midnight, if the other end is given. Two equal times are a whole day, and so no window. */
function windowOf(startTime: string | undefined, endTime: string | undefined): PeriodBounds['window'] {
  if (startTime === undefined && endTime === undefined) return undefined;
  const start = timeOfDay(startTime ?? `00:00${offsetOf(endTime)}`);
  const end = endTime === undefined ? timeOfDay(`00:00${offsetOf(startTime)}`) - 1 : timeOfDay(endTime);
  const length = modulo(end - start, dayMs);
  return length === 0 ? undefined : { start: modulo(start, dayMs), length };
}

/** Milliseconds from midnight UTC. */
function timeOfDay(text: string): number {
  if (!isTimeOfDay(text)) return Number.NaN;
  const [clock = ''] = text.split(/[Zz+-]/);
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  const [, sign, offsetHours = 0, offsetMinutes = 0] = /([+-])(\d\d):?(\d\d)$/.exec(offsetOf(text)) ?? [];
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  return Math.floor(((hours * 60 + minutes - offset) * 60 + seconds) * 1000);
}

function offsetOf(text = ''): string {
  return /[+-]\d\d:?\d\d$/.exec(text)?.[0] ?? '';
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
