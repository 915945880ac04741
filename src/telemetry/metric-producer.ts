import { type HrTime, ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Registry } from 'prom-client';

// Exports the metrics of prom-client through OpenTelemetry, with the names, labels and buckets of /metrics, so that dashboards work with either.

export function createMetricProducer(registry: Registry, resource: Resource): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect() {
      const families = (await registry.getMetricsAsJSON()) as unknown as Family[];
      const times = { startTime, endTime: hrTime(performance.timeOrigin + performance.now()) };
      const metrics = families.map((family) => toMetricData(family, times));
      return {
        errors: [],
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'signpost.internal' }, metrics }] },
      };
    },
  };
}

interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

interface Times {
  startTime: HrTime;
  endTime: HrTime;
}

function toMetricData({ name, help, type, values }: Family, times: Times): MetricData {
  const shared = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram')
    return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(values, times) };
  const dataPoints = values.map(({ value, labels }) => ({ ...times, attributes: labels, value }));
  return type === 'counter'
    ? { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...shared, dataPointType: DataPointType.GAUGE, dataPoints };
}

/** prom-client lists buckets one by one and cumulative, then the sum and the count of the same labels. */
function histogramPoints(values: Family['values'], times: Times) {
  const points = new Map<string, { attributes: Record<string, string | number>; value: Histogram }>();
  for (const { value, labels, metricName = '' } of values) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const point = points.get(key) ?? {
      attributes,
      value: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
    };
    points.set(key, point);
    const { buckets } = point.value;
    if (metricName.endsWith('_sum')) point.value.sum = value;
    else if (metricName.endsWith('_count')) point.value.count = value;
    else if (metricName.endsWith('_bucket')) {
      const below = buckets.counts.reduce((sum, count) => sum + count, 0);
      buckets.counts.push(value - below);
      if (le !== '+Inf') buckets.boundaries.push(Number(le));
    }
  }
  return [...points.values()].map((point) => ({ ...times, ...point }));
}

function hrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}
