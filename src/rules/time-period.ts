import type { TimePeriod } from '../protocol/catalog.ts';
import { isDate, isTimeOfDay, parseInstant } from '../protocol/time.ts';

// When a catalog or an offer is valid (catalog spec: Catalog, validity; the specification shows startDate and endDate).
// Decided: a date without a time is the whole UTC day; bounds are inclusive, missing ones open; startTime and endTime
// are a window of every day, in UTC unless an offset stands there, and may cross midnight.

/** Whether a period includes an instant. A bound that cannot be read includes nothing. */
export function isValidAt(period: TimePeriod | undefined, instant: Date): boolean {
  if (period === undefined) return true;
  const { startDate, endDate, startTime, endTime } = period;
  return (
    (startDate === undefined || instant.getTime() >= firstMoment(startDate)) &&
    (endDate === undefined || instant.getTime() <= lastMoment(endDate)) &&
    ((startTime === undefined && endTime === undefined) || isInWindow(startTime, endTime, instant))
  );
}

const dayMs = 24 * 60 * 60 * 1000;

/** NaN, to which every comparison says no, where the text is no date. */
function firstMoment(text: string): number {
  return isDate(text) ? Date.parse(text) : (parseInstant(text)?.getTime() ?? Number.NaN);
}

function lastMoment(text: string): number {
  return isDate(text) ? Date.parse(text) + dayMs - 1 : firstMoment(text);
}

/** A missing end of the window is midnight, where the other end is. The same time twice is a whole day. */
function isInWindow(startTime: string | undefined, endTime: string | undefined, instant: Date): boolean {
  const start = timeOfDay(startTime ?? `00:00${offsetOf(endTime)}`);
  const end = endTime === undefined ? timeOfDay(`00:00${offsetOf(startTime)}`) - 1 : timeOfDay(endTime);
  if (Number.isNaN(start + end)) return false;
  const sinceStart = modulo(instant.getTime() - start, dayMs);
  const length = modulo(end - start, dayMs);
  return length === 0 || sinceStart <= length;
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
