import { Worker } from 'node:worker_threads';
import { createTurns, DeadlineExceeded, type TurnsOptions } from './fair-turns.ts';
import type { Logger } from './logger.ts';
import type { ThreadMessage } from './thread-entry.ts';

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
  logger: Logger;
}

export function createThreadPool({ size, perOwner, logger }: ThreadPoolOptions): ThreadPool {
  const turns = createTurns({ size, perOwner });
  const idle: Worker[] = [];
  const busy = new Map<Worker, Job>();
  let closed: Error | undefined;

  function start(job: Job, thread: Worker): void {
    busy.set(thread, job);
    // A process does not stay alive for idle threads.
    thread.ref();
    try {
      const { module, name, input, transfer = [] } = job.task;
      thread.postMessage({ module: builtUrl(module), name, input }, transfer);
    } catch (error) {
      // The input holds something that cannot be copied.
      finish(thread, () => job.reject(error));
    }
  }

  function hire(): Worker {
    const thread = new Worker(new URL(builtUrl(new URL(`./thread-entry${ownSuffix}`, import.meta.url).href)));
    thread.on('message', (result: ThreadMessage) => {
      const job = busy.get(thread);
      if (result === 'started') {
        if (job) job.startedAt = performance.now();
        return;
      }
      finish(thread, () =>
        'value' in result ? job?.resolve(result.value) : job?.reject(rebuild(result.error)),
      );
    });
    // Out of memory, or a result that cannot be copied: the thread is gone.
    thread.on('error', (error) => dismiss(thread, error));
    thread.on('exit', () => dismiss(thread, new Error('the thread ended')));
    return thread;
  }

  function finish(thread: Worker, answer: () => void): void {
    if (!busy.delete(thread)) return;
    thread.unref();
    if (idle.length < size) idle.push(thread);
    else void thread.terminate(); // it was one beyond the size
    answer();
  }

  function dismiss(thread: Worker, reason: Error): void {
    const job = busy.get(thread);
    busy.delete(thread);
    const place = idle.indexOf(thread);
    if (place >= 0) idle.splice(place, 1);
    void thread.terminate();
    job?.reject(reason);
  }

  function expire(job: Job): void {
    const { name, deadlineMs } = job.task;
    const [thread] = [...busy].find(([, current]) => current === job) ?? [];
    logger.warn({ task: name, deadlineMs }, 'ended a thread that took too long');
    if (!thread) return;
    dismiss(thread, new DeadlineExceeded(`${name} took longer than ${deadlineMs} ms`));
    // The next task does not wait until a thread has started.
    if (!closed && idle.length + busy.size < size) {
      const next = hire();
      next.unref();
      idle.push(next);
    }
  }

  async function perform(task: Task, endsAt: number, waitedMs: number): Promise<unknown> {
    if (closed) throw closed;
    let timer: NodeJS.Timeout | undefined;
    let job: Job | undefined;
    try {
      return await new Promise((resolve, reject) => {
        job = { task, resolve, reject };
        timer = setTimeout(expire, endsAt - performance.now(), job);
        start(job, idle.pop() ?? hire());
      });
    } finally {
      clearTimeout(timer);
      // What comes before a new thread has loaded its module is neither.
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
      const threads = [...idle, ...busy.keys()];
      for (const thread of threads) dismiss(thread, closed);
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
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
