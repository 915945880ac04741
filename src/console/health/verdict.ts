import type { Trouble } from '../../rules/troubles.ts';
import { type SeriesRow, seriesNames } from '../answers/health.ts';

/** Service-level goals, in milliseconds; the alerts of deploy/prometheus/rules.yml start here. */
export const goals = { discoverP99Ms: 2_500, eventLoopP99Ms: 500 } as const;

const failures: Record<keyof typeof goals, string> = {
  discoverP99Ms: 'One search in a hundred takes longer than 2.5 s.',
  eventLoopP99Ms: 'The event loop of a process is blocked for longer than 500 ms at a time.',
};

/**
 * @param rows of the last minutes: a goal is missed if each of them misses it
 * @param lateSeconds age of the oldest change that searches lack, beyond the promised lag; infinite: no search is answered yet
 */
export function findReasons(
  troubles: readonly Trouble[],
  parked: number,
  rows: readonly SeriesRow[],
  lateSeconds = 0,
) {
  const missed = (Object.keys(goals) as (keyof typeof goals)[]).filter((name) => {
    const values = rows.flatMap((row) => row[seriesNames.indexOf(name) + 1] ?? []);
    return values.length > 0 && values.every((value) => value > goals[name]);
  });
  return [
    ...troubles.map(({ what }) => what),
    ...missed.map((name) => failures[name]),
    ...(lateSeconds === Number.POSITIVE_INFINITY ? ['Searches wait for the first index in OpenSearch.'] : []),
    ...(lateSeconds > 0 && Number.isFinite(lateSeconds)
      ? [`Searches do not show the changes of the last ${lateSeconds} seconds yet.`]
      : []),
    ...(parked > 0 ? [`Parked deliveries: ${parked.toLocaleString('en-US')}.`] : []),
  ];
}
