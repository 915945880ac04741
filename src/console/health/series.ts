import type { MinuteNumber } from '../../storage/console/minutes.ts';
import { type SeriesRow, seriesNames } from '../answers/health.ts';
import { bucketName } from './count-process.ts';

// Turns the stored numbers of all processes into chart lines. Pure.

type SeriesName = (typeof seriesNames)[number];

/** One row per minute with numbers. The current minute appears only if there is no other. */
export function buildSeries(numbers: readonly MinuteNumber[], now: Date): SeriesRow[] {
  const minutes = new Map<number, Map<string, MinuteNumber>>();
  for (const one of numbers) {
    const at = one.at.getTime();
    const minute = minutes.get(at) ?? new Map<string, MinuteNumber>();
    minutes.set(at, minute.set(one.name, one));
  }
  const whole = [...minutes].filter(([at]) => at + 60_000 <= now.getTime());
  return (whole.length > 0 ? whole : [...minutes])
    .sort(([one], [other]) => one - other)
    .map(([at, minute]) => [at / 1000, ...seriesNames.map((name) => readValue(name, minute))]);
}

const percentiles: Partial<Record<SeriesName, [request: string, share: number]>> = {
  discoverP50Ms: ['discover', 0.5],
  discoverP99Ms: ['discover', 0.99],
  publishP99Ms: ['publish', 0.99],
};

function readValue(name: SeriesName, minute: ReadonlyMap<string, MinuteNumber>): number | null {
  const asked = percentiles[name];
  if (asked) return percentile(...asked, minute);
  return minute.get(name)?.[name === 'eventLoopP99Ms' ? 'most' : 'sum'] ?? null;
}

/** From a histogram, like Prometheus: values are evenly spread within a bucket; null if nothing was counted. */
function percentile(request: string, share: number, minute: ReadonlyMap<string, MinuteNumber>) {
  const prefix = bucketName(request, '');
  const buckets = [...minute.values()]
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, sum }) => ({ bound: Number(name.slice(prefix.length).replace('+Inf', 'Infinity')), sum }))
    .sort((one, other) => one.bound - other.bound);
  const total = buckets.reduce((sum, bucket) => sum + bucket.sum, 0);
  if (total === 0) return null;
  let [before, lower] = [0, 0];
  for (const { bound, sum } of buckets) {
    if (before + sum >= share * total && sum > 0) {
      const upper = Number.isFinite(bound) ? bound : lower;
      return Math.round((lower + (upper - lower) * ((share * total - before) / sum)) * 1e5) / 100;
    }
    [before, lower] = [before + sum, Number.isFinite(bound) ? bound : lower];
  }
  return null;
}
