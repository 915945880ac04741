import cluster from 'node:cluster';
import { once } from 'node:events';
import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import type { OperationsStart } from '../main.ts';
import { createMetrics } from '../metrics.ts';
import { createGatheredMetrics } from './gather-metrics.ts';
import type { FromWorker, Started } from './messages.ts';
import { createSlot, type Slot } from './slot.ts';

// The workers of a supervisor. The first one starts alone: it makes what is missing (keys, tables), and why it cannot start is told as if there were one
// process. The others follow. Node's cluster accepts connections in the supervisor and gives them to the workers that listen, in turns.

/** Says, in a sentence for the operator, why a worker could not start. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

export function createWorkerPool(configs: readonly Config[], logger: Logger) {
  // Config and metrics have values that JSON does not know.
  cluster.setupPrimary({ args: ['worker'], serialization: 'advanced' });
  const own = createMetrics({ process: false });
  const restarts = own.counter('signpost_worker_restarts_total', 'Workers that ended and were started again');
  restarts.inc(0);
  const metrics = createGatheredMetrics<Slot>(own);
  const running = (): Slot[] => slots.filter((slot) => slot.isRunning());
  const slots: readonly Slot[] = configs.map((config, index) =>
    createSlot({
      number: index + 1,
      assign: () => ({ config, operationsStart: operationsStartOf(config) }),
      isRequired: index === 0,
      logger,
      heard: (message) => {
        hear(index, message).catch((error) => logger.error({ err: error }, 'a message of a worker failed'));
      },
      ended: (isReplaced) => {
        const slot = slots[index];
        if (slot) metrics.forget(slot);
        if (isReplaced) restarts.inc();
      },
    }),
  );

  function operationsStartOf({ roles }: Config): OperationsStart {
    if (roles.length < Math.max(...configs.map((config) => config.roles.length))) return 'never';
    return running().length > 0 ? 'last' : 'first';
  }

  async function hear(index: number, message: FromWorker): Promise<void> {
    const slot = slots[index];
    if (message.kind === 'spent') {
      for (const other of running()) if (other !== slot) other.send(message);
    } else if (message.kind === 'metrics') {
      if (slot) metrics.answered(slot, message.question, message.families);
    } else if (message.kind === 'all-metrics-wanted') {
      const text = await metrics.gather(running());
      slot?.send({ kind: 'all-metrics', question: message.question, text });
    }
  }

  return {
    /** Resolves with what the first worker has started, when the others have had their try. Throws WorkerFailed where the first one cannot start. */
    async start(signal?: AbortSignal): Promise<Started> {
      const [first, ...others] = slots;
      if (!first) throw new Error('there are no settings for a worker');
      const aborted = signal && once(signal, 'abort').then(() => Promise.reject(signal.reason));
      const untilStopped = <T>(work: Promise<T>) => Promise.race(aborted ? [work, aborted] : [work]);
      aborted?.catch(() => undefined);
      signal?.throwIfAborted();
      const outcome = await untilStopped(first.start());
      if ('failed' in outcome) throw new WorkerFailed(outcome.failed);
      await untilStopped(Promise.all(others.map((slot) => slot.start())));
      return outcome.started;
    },
    /** Has all workers finish what they have begun, and waits until they have ended. */
    async close() {
      const ends = await Promise.all(slots.map((slot) => slot.close()));
      const failed = ends.flatMap((isGood, index) => (isGood ? [] : [index + 1]));
      if (failed.length > 0) throw new Error(`Worker ${failed.join(', ')} did not end as it should.`);
    },
  };
}
