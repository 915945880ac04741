import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

// What runs in each thread of the pool: loads the named function once, calls it for each task, and posts back what came of it.

export interface ThreadTask {
  module: string;
  name: string;
  input: unknown;
}

/** A task has begun; then what came of it. */
export type ThreadMessage = 'started' | ThreadResult;
export type ThreadResult = { value: unknown } | { error: Record<string, unknown> };

// Everybody is served by the main thread, which goes first where there are not enough processors for all. Only on Linux has each thread a priority of its own.
const niceness = 10;
if (parentPort && process.platform === 'linux') setPriority(niceness);

parentPort?.on('message', async (task: ThreadTask) => {
  parentPort?.postMessage(await perform(task));
});

async function perform({ module, name, input }: ThreadTask): Promise<ThreadResult> {
  try {
    const work = (await import(module))[name];
    if (typeof work !== 'function') throw new Error(`${module} exports no function "${name}"`);
    parentPort?.postMessage('started' satisfies ThreadMessage);
    return { value: await work(input) };
  } catch (error) {
    return { error: describe(error) };
  }
}

/** An error as plain values: what it says, where it was thrown, and members such as a code. Its class stays behind. */
function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const plain = Object.entries(error).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return { ...Object.fromEntries(plain), name: error.name, message: error.message, stack: error.stack };
}
