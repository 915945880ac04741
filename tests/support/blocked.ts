import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { takeTime } from './time.ts';

// How long the event loop of this process was blocked at most while something was going on. What counts is the processor time of the main
// thread between two rounds of the loop: a machine that is busy with others delays the loop too, and says nothing about us.

const everyMs = 5;

export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const monitor = monitorEventLoopDelay({ resolution: everyMs });
  let longestNs = 0;
  let before = computedNs();
  const sample = () => {
    const now = computedNs();
    longestNs = Math.max(longestNs, now - before);
    before = now;
  };
  const timer = setInterval(sample, everyMs);
  monitor.enable();
  try {
    // The monitor measures from one of its ticks to the next: one before the work, and one after it.
    await takeTime(everyMs * 4);
    await work();
    sample();
    await takeTime(everyMs * 4);
  } finally {
    clearInterval(timer);
    monitor.disable();
  }
  const delayedMs = Math.max(0, monitor.max / 1e6 - everyMs);
  // Where the system does not tell what a thread has computed, the delay has to do.
  return Math.round(Number.isFinite(before) ? Math.min(longestNs / 1e6, delayedMs) : delayedMs);
}

/** By the main thread, since it was started. */
function computedNs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return Number.NaN;
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
