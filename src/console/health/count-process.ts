import type { Metrics } from '../../metrics.ts';
import type { Numbers } from '../../storage/console/minutes.ts';

// Counts of a process since its start, from its metrics. The difference of two counts is one minute.

/** Requests whose duration is recorded; others count only if they fail. */
const timedRoutes: Record<string, string> = { '/discover': 'discover', '/catalog/publish': 'publish' };

/** Name of the number of requests that took at most `seconds`, but longer than the previous bucket. */
export function bucketName(request: string, seconds: string): string {
  return `${request} ${seconds}`;
}

export async function countProcess(metrics: Metrics): Promise<Numbers> {
  const valuesOf = async (name: string): Promise<MetricValue[]> =>
    ((await metrics.registry.getSingleMetric(name)?.get())?.values as MetricValue[] | undefined) ?? [];
  const [requests, discovers, pushes, fetches] = await Promise.all(
    [
      'signpost_http_request_seconds',
      'signpost_discovers_total',
      'signpost_pushes_total',
      'signpost_crawl_fetches_total',
    ].map(valuesOf),
  );
  const sum = (values: MetricValue[] = []) => values.reduce((total, { value }) => total + value, 0);
  return {
    ...countRequests(requests ?? []),
    emptySearches: sum(discovers?.filter(({ labels }) => labels.found === 'false')),
    pushRate: sum(pushes),
    crawlRate: sum(fetches),
  };
}

interface MetricValue {
  value: number;
  metricName?: string;
  labels: Record<string, string | number>;
}

function countRequests(values: readonly MetricValue[]): Numbers {
  const numbers: Numbers = { discoverRate: 0, publishRate: 0, errors: 0 };
  const add = (name: string, value: number) => {
    numbers[name] = (numbers[name] ?? 0) + value;
  };
  // Buckets are cumulative within a set of labels, and sorted by their bounds.
  let below = 0;
  for (const { metricName = '', value, labels } of values) {
    const request = labels.method === 'POST' ? timedRoutes[String(labels.route)] : undefined;
    if (metricName.endsWith('_count')) {
      if (Number(labels.status) >= 500) add('errors', value);
      if (request) add(`${request}Rate`, value);
    } else if (metricName.endsWith('_bucket')) {
      if (request) add(bucketName(request, String(labels.le)), value - below);
      below = labels.le === '+Inf' ? 0 : value;
    }
  }
  return numbers;
}
