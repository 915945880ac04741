import { setTimeout as delay } from 'node:timers/promises';
import type { Troubles } from '../../delivery/troubles.ts';
import type { Gauge } from '../../metrics.ts';
import { troubleKinds } from '../../rules/troubles.ts';
import {
  type DeliveryBacklog,
  deliveryKinds,
  deliveryStates,
  measureDeliveries,
  measureIndex,
} from '../../storage/console/backlog.ts';
import { within } from '../../within.ts';
import type { ConsoleContext } from '../context.ts';

// Gauges of the database's content: waiting work per receiver, and the size of the index. They are measured when /metrics is read, at most every few
// seconds. A slow or missing database does not delay the answer: after a short timeout it has only the known values.

const freshMs = 10_000;
/** Maximum delay of /metrics by a slow or missing database. */
const patienceMs = 500;
/** Keeps measured values this long while measuring fails: a database under load must not make gauges flap. */
const keptMs = 60_000;
/** Maximum of receivers with a separate series per kind and state: those with the oldest waiting deliveries. All others are `other`. */
const namedReceivers = 50;

type Tools = Pick<ConsoleContext, 'database' | 'metrics' | 'logger'>;

export function addDatabaseGauges({ database, metrics, logger }: Tools): void {
  let measuredAt = performance.now();
  const refresh = createRefresh(async () => {
    const [deliveries, index] = await Promise.all([measureDeliveries(database), measureIndex(database)]);
    measuredAt = performance.now();
    forget();
    tellDeliveries(deliveries, { counts, ages });
    if (!index) return;
    for (const kind of ['catalog', 'resource', 'offer'] as const) size.set({ kind }, index[`${kind}s`]);
    bytes.set(index.bytes);
    lag.set({ stage: 'publish' }, Math.max(0, index.publishLag));
    lag.set({ stage: 'push' }, Math.max(0, index.pushLag));
    failing.set(index.failingCatalogs);
  });
  const collect = () =>
    refresh((error) => {
      if (performance.now() - measuredAt > keptMs) forget();
      logger.debug({ err: error }, 'the gauges of the database were not measured');
    });

  const gauge = <T extends string = never>(name: string, help: string, ...labels: T[]) =>
    metrics.gauge(name, help, labels, { collect });
  const counts = gauge(
    'signpost_deliveries',
    'Waiting and parked callbacks and pushes. The 50 receivers that wait longest have a label each; the rest is other',
    ...deliveryLabels,
  );
  const ages = gauge(
    'signpost_delivery_oldest_seconds',
    'Age of the oldest callback or push that waits or is parked, by receiver as signpost_deliveries',
    ...deliveryLabels,
  );
  const size = gauge(
    'signpost_index_documents',
    'Catalogs, resources and offers in the index; large numbers are estimates of PostgreSQL',
    'kind',
  );
  const bytes = gauge(
    'signpost_index_bytes',
    'Size of the tables of the discovery service, with their indexes',
  );
  const lag = gauge(
    'signpost_index_lag_seconds',
    'Age of the oldest change that is not in the index yet, by the step that it waits for (processing or push)',
    'stage',
  );
  const failing = gauge('signpost_crawl_failing_catalogs', 'Catalogs that could not be crawled recently');
  const forget = () => {
    for (const labelled of [counts, ages, size, lag]) labelled.reset();
    // After a reset, a gauge without labels would report 0.
    for (const plain of [bytes, failing]) plain.remove();
  };
  forget();
}

/** Runs one measurement at a time, and none while the last one is fresh. */
function createRefresh(measure: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let measuredAt = Number.NEGATIVE_INFINITY;
  return async (failed: (error: unknown) => void): Promise<void> => {
    if (!running && performance.now() - measuredAt < freshMs) return;
    running ??= measure()
      .catch(failed)
      .finally(() => {
        measuredAt = performance.now();
        running = undefined;
      });
    const patience = new AbortController();
    const late = delay(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([running, late]);
    patience.abort();
  };
}

const deliveryLabels = ['kind', 'state', 'receiver'] as const;
type DeliveryLabels = (typeof deliveryLabels)[number];

function tellDeliveries(
  measured: readonly DeliveryBacklog[],
  { counts, ages }: { counts: Gauge<DeliveryLabels>; ages: Gauge<DeliveryLabels> },
): void {
  for (const kind of deliveryKinds)
    for (const state of deliveryStates) {
      const { total = 0, receivers = [] } =
        measured.find((backlog) => backlog.kind === kind && backlog.state === state) ?? {};
      const named = receivers.slice(0, namedReceivers);
      for (const { receiver, count, seconds } of named) {
        counts.set({ kind, state, receiver }, count);
        ages.set({ kind, state, receiver }, Math.max(0, seconds));
      }
      const told = named.reduce((sum, { count }) => sum + count, 0);
      const rest = { kind, state, receiver: 'other' };
      counts.set(rest, Math.max(0, total - told));
      ages.set(rest, Math.max(0, receivers[namedReceivers]?.seconds ?? 0));
    }
}

type TroubleTools = Omit<Tools, 'database'> & { troubles: Troubles };

/** Measured at each read of /metrics. If the database is slow or missing, the gauge is omitted. */
export function addTroubleGauge({ metrics, troubles, logger }: TroubleTools): void {
  const collect = async () => {
    gauge.reset();
    try {
      const found = await within(patienceMs, troubles.list(), () => new Error('no answer in time'));
      for (const kind of troubleKinds)
        gauge.set({ kind }, found.filter((trouble) => trouble.kind === kind).length);
    } catch (error) {
      logger.debug({ err: error }, 'the troubles were not counted');
    }
  };
  const gauge = metrics.gauge(
    'signpost_troubles',
    'Failures that last: keys that the registry does not have, subscriptions that are refused, feeds that are out of sync',
    ['kind'],
    { collect },
  );
}
