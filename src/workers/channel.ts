import cluster from 'node:cluster';
import type { SpendingPeers } from '../http/shared-limits.ts';
import { within } from '../within.ts';
import type { Assignment, Families, FromSupervisor, FromWorker, Started } from './messages.ts';

// The worker's end of the channel to its supervisor.

export type SupervisorChannel = NonNullable<ReturnType<typeof openSupervisorChannel>>;

export class SupervisorGone extends Error {
  override readonly name = 'SupervisorGone';
}

/** Longer than the supervisor waits for a worker. */
const answerWithinMs = 4_000;

/** Undefined in a process without a supervisor. */
export function openSupervisorChannel() {
  const { worker } = cluster;
  if (!worker) return undefined;
  const stop = new AbortController();
  const questions = new Map<number, (text: string) => void>();
  let lastQuestion = 0;
  let collectFamilies: (() => Promise<Families>) | undefined;
  let onSpent: Parameters<SpendingPeers['onTold']>[0] = () => {};
  let assign: (assignment: Assignment) => void = () => {};
  const assignment = new Promise<Assignment>((resolve) => {
    assign = resolve;
  });

  function send(message: FromWorker): void {
    // If the channel is breaking, the disconnect event below handles it.
    if (worker?.isConnected()) worker.send(message, () => undefined);
  }

  async function answerMetrics(question: number): Promise<void> {
    // Without an answer, the supervisor uses the last metrics of this worker.
    const families = await collectFamilies?.().catch(() => undefined);
    if (families) send({ kind: 'metrics', question, families });
  }

  worker.on('message', (message: FromSupervisor) => {
    if (message.kind === 'assignment') assign(message.assignment);
    else if (message.kind === 'stop') stop.abort();
    else if (message.kind === 'ping') send({ kind: 'pong' });
    else if (message.kind === 'spent') onSpent(message.spent);
    else if (message.kind === 'all-metrics') questions.get(message.question)?.(message.text);
    else if (message.kind === 'metrics-wanted') void answerMetrics(message.question);
  });
  worker.once('disconnect', () => {
    // Otherwise Node would end the process at once.
    worker.exitedAfterDisconnect = true;
    if (!stop.signal.aborted) stop.abort(new SupervisorGone('The supervisor has ended.'));
  });
  send({ kind: 'ready' });

  return {
    /** The work of this worker. Never resolves if it is stopped first. */
    assignment,
    /** Aborted when the worker must finish its work and end; the reason is `SupervisorGone` if no supervisor is waiting for it. */
    stop: stop.signal,
    peers: {
      tell: (spent) => send({ kind: 'spent', spent }),
      onTold(listener) {
        onSpent = listener;
      },
    } satisfies SpendingPeers,
    /** Answers the supervisor's requests for the metrics of this worker. */
    offerMetrics(collect: () => Promise<Families>) {
      collectFamilies = collect;
    },
    async renderAll() {
      lastQuestion += 1;
      const question = lastQuestion;
      const answered = new Promise<string>((resolve) => {
        questions.set(question, resolve);
        send({ kind: 'all-metrics-wanted', question });
      });
      return within(answerWithinMs, answered, () => new Error('The supervisor does not answer.')).finally(
        () => questions.delete(question),
      );
    },
    started: (started: Started) => send({ kind: 'started', started }),
    failed: (reason: string) => send({ kind: 'failed', reason }),
    close() {
      worker.exitedAfterDisconnect = true;
      if (worker.isConnected()) process.disconnect();
    },
  };
}
