/** The date, time and duration texts of the protocol: a schema accepts exactly the computable ones. */

/** The instant of an RFC 3339 date-time; undefined for other texts. A leap second is the second after it. */
export function parseInstant(text: string): Date | undefined {
  const match = dateTime.exec(text);
  if (!match) return undefined;
  const [, date = '', hour = '', minute = '', second = '', fraction = '', offset = ''] = match;
  if (!isDate(date) || !isClockTime(hour, minute, second) || !isOffset(offset)) return undefined;
  const whole = Date.parse(`${date}T${hour}:${minute}:00${normalOffset(offset)}`);
  const milliseconds = Number(fraction.slice(1, 4).padEnd(3, '0'));
  return new Date(whole + Number(second) * 1000 + milliseconds);
}

export function isDateTime(text: string): boolean {
  return parseInstant(text) !== undefined;
}

/** A calendar day, `2026-02-28`. */
export function isDate(text: string): boolean {
  const match = calendarDay.exec(text);
  if (!match) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

export function isDateOrDateTime(text: string): boolean {
  return isDate(text) || isDateTime(text);
}

/** A time of day, `08:30`, `22:00:00Z`, `06:00:00+05:30`; without an offset it is UTC. */
export function isTimeOfDay(text: string): boolean {
  const match = timeOfDay.exec(text);
  if (!match) return false;
  const [, hour = '', minute = '', second = '0', offset = 'Z'] = match;
  return isClockTime(hour, minute, second) && isOffset(offset);
}

export function isDuration(text: string): boolean {
  return duration.test(text);
}

/** The end of an ISO 8601 duration, in milliseconds since the epoch. Years and months are those of the calendar (UTC); a day beyond the end of a month becomes its last day. Infinity beyond the range of dates. */
export function endOfDuration(start: Date, text: string): number {
  const match = duration.exec(text);
  if (!match) throw new RangeError(`not an ISO 8601 duration: ${text}`);
  const [years, months, days, hours, minutes, seconds, weeks] = match
    .slice(1)
    .map((amount) => Number((amount ?? '0').replace(',', '.'))) as DurationFields;
  const shifted = addMonths(start, years * 12 + months).getTime();
  const clock = (days + weeks * 7) * 86_400_000 + hours * 3_600_000 + minutes * 60_000 + seconds * 1000;
  const end = shifted + clock;
  return Number.isFinite(end) ? end : Number.POSITIVE_INFINITY;
}

type DurationFields = [number, number, number, number, number, number, number];

const calendarDay = /^(\d{4})-(\d\d)-(\d\d)$/;
const dateTime = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
const timeOfDay = /^(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?$/;
const duration =
  /^P(?!$)(?:(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?|(\d+)W)$/;

function isClockTime(hour: string, minute: string, second: string): boolean {
  return Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 60;
}

function isOffset(offset: string): boolean {
  if (offset === 'Z' || offset === 'z') return true;
  return Number(offset.slice(1, 3)) <= 23 && Number(offset.slice(-2)) <= 59;
}

function normalOffset(offset: string): string {
  return offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset.toUpperCase();
}

function addMonths(start: Date, months: number): Date {
  const moved = new Date(start);
  const day = start.getUTCDate();
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  moved.setUTCDate(Math.min(day, daysInMonth(moved.getUTCFullYear(), moved.getUTCMonth() + 1)));
  return moved;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
