import cluster from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Logger } from '../logger.ts';
import type { OperationsStart } from '../main.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import type { Families, FromSupervisor, FromWorker, Started } from './messages.ts';
import { createSlot, type Slot } from './slot.ts';

// /metrics of all workers: the called worker lets the supervisor collect them, and prom-client adds them up. (prom-client's own messages fail as
// a whole while one worker starts or dies.) The counts of an ended worker stay in the sums: a falling counter would look like a restart.

/** A worker that does not answer within this time counts with its last metrics. */
const answerWithinMs = 2_000;

// The workers of a supervisor. The first one starts alone: it creates missing keys and tables, and its failure is reported as if it were the only
// process. The others follow. Node's cluster accepts connections in the supervisor and passes them to the listening workers, in turns.

/** Explains to the operator, in a sentence, why a worker could not start. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
}

export function createWorkerPool(configs: readonly Config[], logger: Logger) {
  // Config and metrics have values that JSON cannot express.
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
    /** Resolves with the first worker's roles, after the others have tried to start. Throws WorkerFailed if the first one cannot start. */
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
    /** Lets all workers finish their work, and waits for their end. */
    async close() {
      const ends = await Promise.all(slots.map((slot) => slot.close()));
      const failed = ends.flatMap((isGood, index) => (isGood ? [] : [index + 1]));
      if (failed.length > 0) throw new Error(`Worker ${failed.join(', ')} did not end cleanly.`);
    },
  };
}

function createGatheredMetrics<W extends { send(message: FromSupervisor): void }>(own: Metrics) {
  const latest = new Map<W, Families>();
  const questions = new Map<number, { open: Set<W>; done: () => void }>();
  let counted: Families = [];
  let lastQuestion = 0;

  function settle(worker: W, ids: Iterable<number>): void {
    for (const id of ids) {
      const question = questions.get(id);
      question?.open.delete(worker);
      if (question?.open.size === 0) question.done();
    }
  }

  async function ask(workers: readonly W[]): Promise<void> {
    lastQuestion += 1;
    const id = lastQuestion;
    if (workers.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, answerWithinMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      questions.set(id, { open: new Set(workers), done });
      for (const worker of workers) worker.send({ kind: 'metrics-wanted', question: id });
    });
    questions.delete(id);
  }

  return {
    async gather(workers: readonly W[]): Promise<string> {
      await ask(workers);
      const ofSupervisor = await own.registry.getMetricsAsJSON();
      return addUp([ofSupervisor, counted, ...latest.values()]).metrics();
    },
    answered(worker: W, question: number, families: Families) {
      latest.set(worker, families);
      settle(worker, [question]);
    },
    forget(worker: W) {
      const families = (latest.get(worker) ?? []).filter(isCount);
      latest.delete(worker);
      settle(worker, questions.keys());
      counted = addUp([counted, families]).getMetricsAsArray() as Families;
    },
  };
}

function addUp(families: readonly Families[]): Registry {
  return AggregatorRegistry.aggregate([...families]);
}

function isCount({ type }: Families[number]): boolean {
  return ['counter', 'histogram'].includes(String(type));
}
