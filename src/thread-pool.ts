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

// Threads for work that would block the main thread, shared fairly (fair-turns.ts). A task that exceeds its time is ended with its thread.

export { DeadlineExceeded } from './fair-turns.ts';

export type ThreadPool = ReturnType<typeof createThreadPool>;

export interface Task {
  /** The `import.meta.url` of the module. */
  module: string;
  /** One of its exported functions. It gets the input and returns, or resolves to, the result; both are copied. */
  name: string;
  input: unknown;
  /** Parts of the input that are transferred instead of copied. */
  transfer?: readonly ArrayBuffer[];
  /** Classes of errors whose instances are restored; others become plain errors. */
  errors?: readonly ErrorClass[];
  /** From the time when it has a thread. */
  deadlineMs: number;
  /** Maximum wait for a thread; default: the deadline. */
  waitMs?: number;
  /** The identity that requested the work; none: the process itself. */
  owner?: string;
  /** By default, the task waits for a turn, and starts again if that is taken away. With a given turn, it then rejects with TurnLost. */
  turn?: Turn;
}

interface ThreadPoolOptions extends Pick<TurnsOptions, 'size' | 'perOwner' | 'maxWaiting' | 'shortMs'> {
  /** Maximum of concurrent tasks per thread, for tasks that mostly wait; default: one. With more, there are at most `size` threads. */
  perThread?: number;
  /** Whether the main thread has priority if there are too few processors; default: yes. */
  givesWay?: boolean;
  /** Heap per thread; a thread that needs more is ended, and its task rejected (`wasEnded`). Default: the heap of the process. */
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
    // Idle threads do not keep a process alive.
    thread.ref();
    try {
      const { module, name, input, transfer = [] } = job.task;
      thread.postMessage({ number, module: builtUrl(module), name, input } satisfies ThreadTask, transfer);
    } catch (error) {
      // The input contains something that cannot be copied.
      finish(thread, number)?.reject(error);
    }
  }

  /** The thread with the fewest jobs, unless it is full; then another thread is started. */
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
    if (findIdle().length > size) void end(thread); // it was beyond the size
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
    // The next task must not wait for the start of a thread. If turns can be taken away, another task follows soon and needs one, too.
    const wanted = fairness.shortMs === undefined ? 1 : 2;
    for (let idle = findIdle().length; idle < wanted && !closed && threads.size <= size; idle += 1)
      hire().unref();
  }

  async function perform<T>(task: Task, turn: Turn): Promise<T> {
    if (closed) throw closed;
    const { lost } = turn;
    lost.throwIfAborted();
    const { name, deadlineMs } = task;
    // The start of a thread, and of its module, does not count.
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
    /** A turn for several consecutive tasks, which name it. */
    take: turns.take,

    /** Rejects with DeadlineExceeded if there is no result in time, or with NoTurn if no thread was free. */
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

    /** Ends all threads and rejects running and waiting tasks. */
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

/** Whether a task's thread was ended for too much memory or time; false if the task failed otherwise, or got no thread. */
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

/** Node cannot load TypeScript in a thread: if the sources run (in tests), threads run their build. */
function builtUrl(url: string): string {
  if (!url.endsWith('.ts')) return url;
  const sources = new URL('./', import.meta.url).href;
  const built = new URL('../dist/', import.meta.url).href;
  return url.replace(sources, built).replace(/\.ts$/, '.js');
}
