import type { Metrics } from '../metrics.ts';
import { type Intent, spatialConstraints } from '../protocol/discover-messages.ts';

/** The parts of an intent, as `text`, `filter+spatial` … */
export function kindOfIntent(intent: Intent): string {
  const parts = [
    ...(intent.textSearch?.trim() ? ['text'] : []),
    ...(intent.filters ? ['filter'] : []),
    ...(spatialConstraints(intent).length > 0 ? ['spatial'] : []),
  ];
  return parts.join('+') || 'none';
}

export type ObserveDiscover = (intent: Intent, arrivedAt: number, isFound: boolean) => void;

/** Counts evaluated intents, and how long each took from its arrival until its answer was stored. */
export function observeDiscovers(metrics: Metrics): ObserveDiscover {
  const count = metrics.counter(
    'signpost_discovers_total',
    'Evaluated intents, by whether something was found',
    ['found'],
  );
  // So that the first one shows as an increase.
  for (const found of ['true', 'false']) count.inc({ found }, 0);
  const seconds = metrics.histogram(
    'signpost_discover_seconds',
    'From the arrival of an intent until its answer was stored, by its parts and whether something was found',
    ['kind', 'found'],
  );
  return (intent, arrivedAt, isFound) => {
    const found = String(isFound);
    count.inc({ found });
    seconds.observe({ kind: kindOfIntent(intent), found }, (performance.now() - arrivedAt) / 1000);
  };
}
