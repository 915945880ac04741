import { Worker } from 'node:worker_threads';
import { createTurns, DeadlineExceeded, NoTurn, type TurnsOptions } from './fair-turns.ts';
import type { Logger } from './logger.ts';
import type { ThreadData, ThreadMessage, ThreadTask } from './thread-entry.ts';

// Threads for work that would stop everything else: filters, geometry, canonical forms and checks of large documents. They are given out
// fairly among those for whom they work (fair-turns.ts). A task that does not end in time is ended together with its thread; the others go
// on, and the next task gets a new thread.

export { DeadlineExceeded } from './fair-turns.ts';

export interface ThreadPool {
  /** Rejects with DeadlineExceeded when there is no result in time, counted from this call: with NoTurn when no thread was free. */
  run<T>(task: Task): Promise<T>;
  /** Ends all threads; what is still under way or waiting is rejected. */
  close(): Promise<void>;
}

export interface Task {
  /** The `import.meta.url` of the module. */
  module: string;
  /** One of its exported functions. It takes the input and returns, or resolves to, the result; both are copied. */
  name: string;
  input: unknown;
  /** Parts of the input that are handed over instead of copied. */
  transfer?: readonly ArrayBuffer[];
  deadlineMs: number;
  /** A thread is waited for no longer than this. */
  waitMs?: number;
  /** The identity that the work is done for; none: the process itself. */
  owner?: string;
  /** Told at the end how long it waited for its turn, and how long it ran. */
  onEnd?(times: { waitedMs: number; ranMs: number }): void;
}

export interface ThreadPoolOptions extends Pick<TurnsOptions, 'size' | 'perOwner'> {
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
  perOwner,
  perThread = 1,
  givesWay = true,
  heapMb,
  logger,
}: ThreadPoolOptions): ThreadPool {
  const turns = createTurns({ size: size * perThread, perOwner });
  /** With their jobs, by number. */
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
        const job = threads.get(thread)?.get(message.number);
        if (job) job.startedAt = performance.now();
        return;
      }
      const job = finish(thread, message.number);
      if ('value' in message) job?.resolve(message.value);
      else job?.reject(rebuild(message.error));
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
    const idle = [...threads.values()].filter(({ size: jobs }) => jobs === 0);
    if (idle.length > size) void end(thread); // it was one beyond the size
    return job;
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

  function expire(job: Job): void {
    const { name, deadlineMs } = job.task;
    const [thread] = [...threads].find(([, jobs]) => [...jobs.values()].includes(job)) ?? [];
    logger.warn({ task: name, deadlineMs }, 'ended a thread that took too long');
    if (!thread) return;
    dismiss(thread, new DeadlineExceeded(`${name} took longer than ${deadlineMs} ms`));
    // The next task does not wait until a thread has started.
    if (!closed && threads.size < size) hire().unref();
  }

  async function perform(task: Task, endsAt: number, waitedMs: number): Promise<unknown> {
    if (closed) throw closed;
    let timer: NodeJS.Timeout | undefined;
    let job: Job | undefined;
    try {
      return await new Promise((resolve, reject) => {
        job = { task, resolve, reject };
        timer = setTimeout(expire, endsAt - performance.now(), job);
        start(job);
      });
    } finally {
      clearTimeout(timer);
      // While a new thread loads its module, the task neither waits for its turn nor runs.
      const ranMs = job?.startedAt === undefined ? 0 : performance.now() - job.startedAt;
      task.onEnd?.({ waitedMs, ranMs });
    }
  }

  return {
    async run<T>(task: Task): Promise<T> {
      const askedAt = performance.now();
      const turn = await turns.take(task.owner, task.waitMs ?? task.deadlineMs);
      const waitedMs = performance.now() - askedAt;
      try {
        return (await perform(task, askedAt + task.deadlineMs, waitedMs)) as T;
      } finally {
        turn.end();
      }
    },

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
  resolve(value: unknown): void;
  reject(reason: unknown): void;
  startedAt?: number;
}

function rebuild({ message, ...members }: Record<string, unknown>): Error {
  return Object.assign(new Error(String(message)), members);
}

const ownSuffix = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** Node cannot load TypeScript in a thread: when the sources run (in tests), threads run what was built from them. */
function builtUrl(url: string): string {
  if (!url.endsWith('.ts')) return url;
  const sources = new URL('./', import.meta.url).href;
  const built = new URL('../dist/', import.meta.url).href;
  return url.replace(sources, built).replace(/\.ts$/, '.js');
}
