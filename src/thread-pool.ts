import { Worker } from 'node:worker_threads';
import { type ErrorClass, reviveError } from './carried-error.ts';
import {
  createTurns,
  DeadlineExceeded,
  NoTurn,
  type Turn,
  TurnLost,
  type TurnsOptions,
} from './fair-turns.ts';
import type { Logger } from './logger.ts';
import { meterThread } from './processor-time.ts';
import type { ThreadData, ThreadMessage, ThreadTask } from './thread-entry.ts';

// Threads for work that would block the main thread, given out fairly (fair-turns.ts). A task that does not end in time is ended together with its thread.

export { DeadlineExceeded } from './fair-turns.ts';

export type ThreadPool = ReturnType<typeof createThreadPool>;

export interface Task {
  /** The `import.meta.url` of the module. */
  module: string;
  /** One of its exported functions. It takes the input and returns, or resolves to, the result; both are copied. */
  name: string;
  input: unknown;
  /** Parts of the input that are handed over instead of copied. */
  transfer?: readonly ArrayBuffer[];
  /** Classes of errors whose instances come back as such; others come back as plain errors. */
  errors?: readonly ErrorClass[];
  /** From when it has a thread. */
  deadlineMs: number;
  /** A thread is waited for no longer than this; unless given, as long as the deadline. */
  waitMs?: number;
  /** The identity that the work is done for; none: the process itself. */
  owner?: string;
  /** Unless given, the task waits for one of its own, and begins again where that is taken away; with one, it rejects with TurnLost then. */
  turn?: Turn;
}

interface ThreadPoolOptions extends Pick<TurnsOptions, 'size' | 'perOwner' | 'maxWaiting' | 'shortMs'> {
  /** Tasks that a thread works on at a time, because they mostly wait; one unless given. With more, there are never more threads than `size`. */
  perThread?: number;
  /** Whether the main thread goes first where there are not enough processors for all; unless told otherwise, it does. */
  givesWay?: boolean;
  /** Heap of each thread; one that needs more is ended, and its task rejected (`wasEnded`). As much as the process has unless given. */
  heapMb?: number;
  logger: Logger;
}

export function createThreadPool({
  size,
  perThread = 1,
  givesWay = true,
  heapMb,
  logger,
  ...fairness
}: ThreadPoolOptions) {
  const turns = createTurns({ ...fairness, size: size * perThread });
  const threads = new Map<Worker, Map<number, Job>>();
  let lastNumber = 0;
  let closed: Error | undefined;

  function start(job: Job): void {
    const thread = chooseThread() ?? hire();
    const number = ++lastNumber;
    threads.get(thread)?.set(number, job);
    // A process does not stay alive for idle threads.
    thread.ref();
    try {
      const { module, name, input, transfer = [] } = job.task;
      thread.postMessage({ number, module: builtUrl(module), name, input } satisfies ThreadTask, transfer);
    } catch (error) {
      // The input holds something that cannot be copied.
      finish(thread, number)?.reject(error);
    }
  }

  /** That with the fewest jobs, unless it has as many as it may; then another one is hired. */
  function chooseThread(): Worker | undefined {
    let [chosen, fewest] = [undefined as Worker | undefined, Number.POSITIVE_INFINITY];
    for (const [thread, { size: jobs }] of threads) if (jobs < fewest) [chosen, fewest] = [thread, jobs];
    const isAnotherBetter = fewest > 0 && (perThread === 1 || threads.size < size);
    return isAnotherBetter ? undefined : chosen;
  }

  function hire(): Worker {
    const entry = new URL(builtUrl(new URL(`./thread-entry${ownSuffix}`, import.meta.url).href));
    const thread = new Worker(entry, {
      workerData: { givesWay } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    threads.set(thread, new Map());
    thread.on('message', (message: ThreadMessage) => {
      if ('started' in message) {
        threads.get(thread)?.get(message.number)?.onStart(message.started);
        return;
      }
      const job = finish(thread, message.number);
      if ('value' in message) job?.resolve(message.value);
      else job?.reject(reviveError(message.error, job.task.errors));
    });
    // Out of memory, or a result that cannot be copied: the thread is gone.
    thread.on('error', (error) => dismiss(thread, error));
    thread.on('exit', () => dismiss(thread, new Error('the thread ended')));
    return thread;
  }

  function finish(thread: Worker, number: number): Job | undefined {
    const jobs = threads.get(thread);
    const job = jobs?.get(number);
    jobs?.delete(number);
    if (jobs?.size !== 0) return job;
    thread.unref();
    if (findIdle().length > size) void end(thread); // it was one beyond the size
    return job;
  }

  function findIdle(): Worker[] {
    return [...threads].flatMap(([thread, { size: jobs }]) => (jobs === 0 ? [thread] : []));
  }

  function end(thread: Worker): Promise<unknown> {
    threads.delete(thread);
    return thread.terminate();
  }

  function dismiss(thread: Worker, reason: Error): void {
    const jobs = threads.get(thread);
    void end(thread);
    for (const job of jobs?.values() ?? []) job.reject(reason);
  }

  function abandon(job: Job, reason: Error): void {
    const [thread] = [...threads].find(([, jobs]) => [...jobs.values()].includes(job)) ?? [];
    if (!thread) return;
    dismiss(thread, reason);
    // The next task does not wait until a thread has started. Where turns are taken away, that one needs a thread at once, and the one after it soon.
    const wanted = fairness.shortMs === undefined ? 1 : 2;
    for (let idle = findIdle().length; idle < wanted && !closed && threads.size <= size; idle += 1)
      hire().unref();
  }

  async function perform<T>(task: Task, turn: Turn): Promise<T> {
    if (closed) throw closed;
    const { lost } = turn;
    lost.throwIfAborted();
    const { name, deadlineMs } = task;
    // While a new thread starts and loads its module, nothing counts.
    let read = () => 0;
    const onStart = (name?: string) => {
      read = meterThread(name);
    };
    const stopMeter = fairness.shortMs === undefined ? undefined : turn.meter(() => read());
    let lose: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        const job: Job = { task, onStart, resolve: resolve as Job['resolve'], reject };
        lose = () => abandon(job, lost.reason);
        lost.addEventListener('abort', lose, { once: true });
        timer = setTimeout(() => {
          logger.warn({ task: name, deadlineMs }, 'ended a thread that took too long');
          abandon(job, new DeadlineExceeded(`${name} took longer than ${deadlineMs} ms`));
        }, deadlineMs);
        start(job);
      });
    } finally {
      stopMeter?.();
      clearTimeout(timer);
      if (lose) lost.removeEventListener('abort', lose);
    }
  }

  return {
    /** A turn for several tasks, one at a time, which come with it. */
    take: turns.take,

    /** Rejects with DeadlineExceeded when there is no result in time: with NoTurn when no thread was free. */
    async run<T>(task: Task): Promise<T> {
      if (task.turn) return perform<T>(task, task.turn);
      const waitsUntil = performance.now() + (task.waitMs ?? task.deadlineMs);
      for (;;) {
        const turn = await turns.take(task.owner, waitsUntil - performance.now());
        try {
          return await perform<T>(task, turn);
        } catch (error) {
          if (!(error instanceof TurnLost)) throw error;
        } finally {
          turn.end();
        }
      }
    },

    /** Ends all threads; what is still under way or waiting is rejected. */
    async close() {
      closed = new Error('the thread pool is closed');
      turns.close(closed);
      const reason = closed;
      await Promise.all(
        [...threads.keys()].map((thread) => {
          dismiss(thread, reason);
          return thread.terminate();
        }),
      );
    },
  };
}

/** Whether a task took too much memory or time, so that its thread was ended; false where it failed otherwise, or got no thread. */
export function wasEnded(error: unknown): 'memory' | 'time' | false {
  if (error instanceof DeadlineExceeded) return error instanceof NoTurn ? false : 'time';
  return (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY' && 'memory';
}

interface Job {
  task: Task;
  /** With the name of its thread. */
  onStart(name?: string): void;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

const ownSuffix = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Node cannot load TypeScript in a thread: when the sources run (in tests), threads run what was built from them. */
function builtUrl(url: string): string {
  if (!url.endsWith('.ts')) return url;
  const sources = new URL('./', import.meta.url).href;
  const built = new URL('../dist/', import.meta.url).href;
  return url.replace(sources, built).replace(/\.ts$/, '.js');
}
