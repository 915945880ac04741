import type { PeriodBounds } from '../../rules/time-period.ts';

// The validity of a catalog or an offer, as a statement tells it in one column: mostly there is none.

export const validityText = `case when num_nonnulls(valid_from, valid_until, window_start) > 0 then json_build_array(
  extract(epoch from valid_from) * 1000, extract(epoch from valid_until) * 1000, window_start, window_length)::text end`;

type Columns = [
  from: number | null,
  until: number | null,
  windowStart: number | null,
  windowLength: number | null,
];

export function readPeriod(text: string | null): PeriodBounds {
  if (text === null) return {};
  const [from, until, start, length]: Columns = JSON.parse(text);
  return {
    ...(from !== null && { from: new Date(from) }),
    ...(until !== null && { until: new Date(until) }),
    ...(start !== null && length !== null && { window: { start, length } }),
  };
}
