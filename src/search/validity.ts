import type { PeriodBounds } from '../rules/time-period.ts';

/** The validity of a catalog or an offer in one column of a statement; usually null. `of`: the alias of the table, and a dot. */
export function validityText(of = ''): string {
  return `case when num_nonnulls(${of}valid_from, ${of}valid_until, ${of}window_start) > 0 then json_build_array(
    extract(epoch from ${of}valid_from) * 1000, extract(epoch from ${of}valid_until) * 1000, ${of}window_start, ${of}window_length)::text end`;
}

export function readPeriod(text: string | null): PeriodBounds {
  if (text === null) return {};
  const [from = null, until = null, start = null, length = null]: (number | null)[] = JSON.parse(text);
  return {
    ...(from !== null && { from: new Date(from) }),
    ...(until !== null && { until: new Date(until) }),
    ...(start !== null && length !== null && { window: { start, length } }),
  };
}
