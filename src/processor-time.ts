import { readFileSync, readlinkSync } from 'node:fs';

/** What the system calls the thread that asks; undefined where it does not say (Linux does). */
export function findThreadName(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').pop();
  } catch {
    return undefined;
  }
}

/**
 * Counts the milliseconds of processor time that a thread of this process takes from now on; where the system does not say, those that pass. A
 * thread that has ended keeps its last count.
 */
export function meterThread(name: string | undefined): () => number {
  const before = findProcessorMs(name);
  if (before === undefined) {
    const startedAt = performance.now();
    return () => performance.now() - startedAt;
  }
  let last = before;
  return () => {
    last = findProcessorMs(name) ?? last;
    return last - before;
  };
}

function findProcessorMs(name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${name}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return undefined;
  }
}
