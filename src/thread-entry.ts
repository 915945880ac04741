import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { type PlainError, plainError } from './carried-error.ts';
import { findThreadName } from './processor-time.ts';

// The code of each thread of the pool: it loads the named function once, calls it for each task, and posts the result.

export interface ThreadTask {
  /** Identifies the task in its messages. */
  number: number;
  module: string;
  name: string;
  input: unknown;
}

export interface ThreadData {
  givesWay: boolean;
}

/** First, the start of a task with the system's name of the thread; then its result. */
export type ThreadMessage = { number: number } & (ThreadStart | ThreadResult);
type ThreadStart = { started: string | undefined };
type ThreadResult = { value: unknown } | { error: PlainError };

// With few processors, the main thread has priority, unless the thread's work is equally urgent. Only Linux has priorities per thread.
const niceness = 10;
const { givesWay } = (workerData ?? {}) as Partial<ThreadData>;
if (parentPort && givesWay && process.platform === 'linux')
  setPriority(Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW));

const threadName = findThreadName();

parentPort?.on('message', async (task: ThreadTask) => {
  tell(task, await perform(task));
});

function tell({ number }: ThreadTask, what: ThreadStart | ThreadResult): void {
  parentPort?.postMessage({ number, ...what } satisfies ThreadMessage);
}

async function perform(task: ThreadTask): Promise<ThreadResult> {
  const { module, name, input } = task;
  try {
    const work = (await import(module))[name];
    if (typeof work !== 'function') throw new Error(`${module} exports no function "${name}"`);
    tell(task, { started: threadName });
    return { value: await work(input) };
  } catch (error) {
    return { error: plainError(error) };
  }
}
