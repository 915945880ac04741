import type { Troubles } from '../../delivery/troubles.ts';
import { troubleKinds } from '../../rules/troubles.ts';
import { within } from '../../within.ts';
import type { ConsoleContext } from '../context.ts';

/** Maximum delay of /metrics by a slow or missing database; after it, the gauge is omitted. */
const patienceMs = 500;

type Tools = Pick<ConsoleContext, 'metrics' | 'logger'> & { troubles: Troubles };

export function addTroubleGauge({ metrics, troubles, logger }: Tools): void {
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
