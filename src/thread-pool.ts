import { Worker } from 'node:worker_threads';
import type { Logger } from './logger.ts';
import type { ThreadResult } from './thread-entry.ts';

// Threads for work that would stop everything else: filters, geometry, canonical forms and checks of large documents. A task that does
// not end in time is ended together with its thread; the others go on, and the next task gets a new thread.

export interface ThreadPool {
  /** Rejects with DeadlineExceeded when there is no result in time, counted from this call. */
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
}

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

export function createThreadPool({ size, logger }: { size: number; logger: Logger }): ThreadPool {
  const waiting: Job[] = [];
  const idle: Worker[] = [];
  const busy = new Map<Worker, Job>();
  let closed = false;

  function assign(): void {
    while (waiting.length > 0 && busy.size < size) {
      const job = waiting.shift();
      if (job) start(job, idle.pop() ?? hire());
    }
  }

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
    thread.on('message', (result: ThreadResult) => {
      const job = busy.get(thread);
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
    idle.push(thread);
    answer();
    assign();
  }

  function dismiss(thread: Worker, reason: Error): void {
    const job = busy.get(thread);
    busy.delete(thread);
    const place = idle.indexOf(thread);
    if (place >= 0) idle.splice(place, 1);
    void thread.terminate();
    job?.reject(reason);
    assign();
  }

  function expire(job: Job): void {
    const error = new DeadlineExceeded(`${job.task.name} took longer than ${job.task.deadlineMs} ms`);
    const place = waiting.indexOf(job);
    if (place >= 0) {
      waiting.splice(place, 1);
      job.reject(error);
      return;
    }
    const [thread] = [...busy].find(([, current]) => current === job) ?? [];
    logger.warn(
      { task: job.task.name, deadlineMs: job.task.deadlineMs },
      'ended a thread that took too long',
    );
    if (thread) dismiss(thread, error);
  }

  return {
    run<T>(task: Task): Promise<T> {
      if (closed) return Promise.reject(new Error('the thread pool is closed'));
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => expire(job), task.deadlineMs);
        const settled =
          <V>(settle: (value: V) => void) =>
          (value: V) => {
            clearTimeout(timer);
            settle(value);
          };
        const job: Job = { task, resolve: settled((value) => resolve(value as T)), reject: settled(reject) };
        waiting.push(job);
        assign();
      });
    },

    async close() {
      closed = true;
      const reason = new Error('the thread pool is closed');
      for (const job of waiting.splice(0)) job.reject(reason);
      const threads = [...idle, ...busy.keys()];
      for (const thread of threads) dismiss(thread, reason);
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

interface Job {
  task: Task;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
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
