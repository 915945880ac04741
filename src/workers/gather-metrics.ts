import { AggregatorRegistry, type Registry } from 'prom-client';
import type { Metrics } from '../metrics.ts';
import type { Families, FromSupervisor } from './messages.ts';

// /metrics of all workers: whichever is asked has the supervisor ask all of them, and prom-client adds up. (prom-client's own messages between workers and
// supervisor fail as a whole while one worker starts or dies.) What a worker had counted stays in the sums when it ends: a counter that falls would look
// like a restart of everything.

/** A worker that does not answer within this time counts with what it said last. */
const answerWithinMs = 2_000;

export function createGatheredMetrics<W extends { send(message: FromSupervisor): void }>(own: Metrics) {
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
