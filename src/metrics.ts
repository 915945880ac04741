import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export type { Counter, Gauge, Histogram } from 'prom-client';

interface GaugeOptions {
  /** How the values of several workers are combined. */
  aggregator?: 'max' | 'sum';
  /** Awaited before the gauge is read. */
  collect?: () => void | Promise<void>;
}

/** From one millisecond, a signed read, to ten seconds, when callers have given up. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MetricsOptions {
  /** False omits memory, CPU, event loop and garbage collection, for registries that live only for a test. */
  process?: boolean;
  /** In a worker: fetches the metrics of all workers. */
  renderAll?: () => Promise<string>;
}

/** Get-or-create access to the metrics of one process: a module requests a counter by its name, and roles differ by the label `role`. */
export function createMetrics(options: MetricsOptions = {}) {
  const registry = new Registry();
  if (options.process !== false) collectProcessMetrics(registry);
  const named = <M extends object>(name: string, create: () => M): M =>
    // The caller's type argument must match the labels of the metric with this name.
    (registry.getSingleMetric(name) as M | undefined) ?? create();
  return {
    registry,
    /** The text of /metrics, of all workers together if there are several. */
    render: options.renderAll ?? (() => registry.metrics()),
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      named(name, () => new Counter({ name, help, labelNames, registers: [registry] })),
    /** By default for values that all processes share, such as the rows of a table: the highest value of all workers counts. */
    gauge: <L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      { aggregator = 'max', collect }: GaugeOptions = {},
    ) => named(name, () => new Gauge({ name, help, labelNames, registers: [registry], aggregator, collect })),
    histogram: <L extends string>(
      name: string,
      help: string,
      labelNames: readonly L[] = [],
      buckets: readonly number[] = secondsBuckets,
    ) =>
      named(
        name,
        () => new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] }),
      ),
  };
}

/** prom-client would report the average of all workers, which hides a blocked one. */
function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const measure of ['', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_'])
    Object.assign(register.getSingleMetric(`nodejs_eventloop_lag_${measure}seconds`) ?? {}, {
      aggregator: 'max',
    });
}
