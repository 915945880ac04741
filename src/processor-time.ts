import { readFileSync, readlinkSync } from 'node:fs';
import { attempt } from './attempt.ts';

/** The system's name of the calling thread; undefined except on Linux. */
export function findThreadName(): string | undefined {
  return attempt(() => readlinkSync('/proc/thread-self').split('/').pop());
}

/** Meters a thread's processor time in ms from now on; elapsed time if the system has no such count. It stays after the thread has ended. */
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
  const times = attempt(() => readFileSync(`/proc/self/task/${name}/schedstat`, 'utf8'));
  return times === undefined ? undefined : Number(times.split(' ')[0]) / 1e6;
}
