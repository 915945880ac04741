import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { textOf } from './cell-values.ts';
import type { Attributes, Report } from './station.ts';

// Converts opening times of OCPI to the notation of OpenStreetMap (`Mo-Fr 07:00-20:00; Sa 08:00-14:00`, `24/7`), which lists use too. Times are
// local.

export function openingAttributes(times: Json | undefined, report: Report): Attributes {
  if (!isJsonObject(times)) return {};
  const { twentyfourseven, regular_hours, exceptional_openings, exceptional_closings } = times;
  const openingHours = twentyfourseven === true ? '24/7' : weekOf(regular_hours, report);
  const [exceptionalOpenings, exceptionalClosings] = [exceptional_openings, exceptional_closings].map(
    (list) => (Array.isArray(list) ? list.filter(isJsonObject).map(periodOf) : []),
  );
  return {
    ...(openingHours !== undefined && { openingHours }),
    ...(exceptionalOpenings?.length && { exceptionalOpenings }),
    ...(exceptionalClosings?.length && { exceptionalClosings }),
  };
}

function periodOf({ period_begin: begin, period_end: end }: JsonObject) {
  return { begin, end };
}

function weekOf(hours: Json | undefined, report: Report): string | undefined {
  if (!Array.isArray(hours) || hours.length === 0) return undefined;
  const spans = days.map((): string[] => []);
  for (const hour of hours) {
    const { weekday, period_begin, period_end }: JsonObject = isJsonObject(hour) ? hour : {};
    const span = [period_begin, period_end].map((time) => textOf(time) ?? '').join('-');
    const day = typeof weekday === 'number' ? spans[weekday - 1] : undefined;
    if (day === undefined || !/^\d\d:\d\d-\d\d:\d\d$/.test(span))
      report('is not a regular opening time', {
        column: 'opening_times.regular_hours',
        value: JSON.stringify(hour),
      });
    else day.push(span);
  }
  const texts = spans.map((day) => day.sort().join(','));
  const parts: string[] = [];
  for (let first = 0; first < days.length; ) {
    let last = first;
    while (last + 1 < days.length && texts[last + 1] === texts[first]) last += 1;
    const range = first === last ? days[first] : `${days[first]}-${days[last]}`;
    if (texts[first] !== '') parts.push(`${range} ${texts[first]}`);
    first = last + 1;
  }
  return parts.length > 0 ? parts.join('; ') : undefined;
}

const days = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];
