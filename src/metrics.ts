import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

export type { Counter, Gauge, Histogram } from 'prom-client';

interface GaugeOptions {
  /** How the values of several workers are added up. */
  aggregator?: 'max' | 'sum';
  /** Awaited before the gauge is read. */
  collect?: () => void | Promise<void>;
}

/** From a millisecond, a signed read, to ten seconds, where callers have given up. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MetricsOptions {
  /** False leaves out memory, CPU, event loop and garbage collection, for registries that live only for a test. */
  process?: boolean;
  /** In a worker: asks for the metrics of all. */
  renderAll?: () => Promise<string>;
}

/** Get-or-create access to the measurements of one process: a module asks for a counter by its name, and roles differ by the label `role`. */
export function createMetrics(options: MetricsOptions = {}) {
  const registry = new Registry();
  if (options.process !== false) collectProcessMetrics(registry);
  const named = <M extends object>(name: string, create: () => M): M =>
    // The caller's type argument is a promise about the labels of a family that it declared under this name.
    (registry.getSingleMetric(name) as M | undefined) ?? create();
  return {
    registry,
    /** The text of /metrics: of all workers together, where there are several. */
    render: options.renderAll ?? (() => registry.metrics()),
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      named(name, () => new Counter({ name, help, labelNames, registers: [registry] })),
    /** Unless told otherwise, of what all processes share, such as the rows of a table: of several workers, the highest value counts. */
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

/** prom-client would tell the average of all workers, in which one that is blocked does not show. */
function collectProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register });
  for (const measure of ['', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_'])
    Object.assign(register.getSingleMetric(`nodejs_eventloop_lag_${measure}seconds`) ?? {}, {
      aggregator: 'max',
    });
}
