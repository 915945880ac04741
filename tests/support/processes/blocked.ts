import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'vitest';
import { takeTime } from '../time.ts';

// The cost of some work on the main thread of this process, in processor time: delays on a busy machine say nothing about us. With LONGEST_BLOCK_MS
// (set by `npm run test:blocked`), the delay of the event loop counts instead, limited to that many milliseconds.

const everyMs = 5;
const longestAllowedMs = Number(process.env.LONGEST_BLOCK_MS ?? 0);
export const rounds = longestAllowedMs > 0 ? 5 : 3;

/** The measurements per round, in a worker thread and in place. */
export function expectNobodyHeldUp(asideMs: readonly number[], inPlaceMs: readonly number[]): void {
  expect(median(asideMs)).toBeLessThan(longestAllowedMs > 0 ? longestAllowedMs : median(inPlaceMs) / 2);
}

export interface MainThreadCost {
  /** The longest time between two turns of the event loop: how long it was blocked. */
  longestMs: number;
  allMs: number;
}

export async function mainThreadCost(work: () => Promise<unknown>): Promise<MainThreadCost> {
  const began = computedNs();
  if (longestAllowedMs > 0 || Number.isNaN(began)) return delayOf(work);
  let [before, longestNs] = [began, 0];
  const sample = () => {
    const now = computedNs();
    longestNs = Math.max(longestNs, now - before);
    before = now;
  };
  const timer = setInterval(sample, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  sample();
  return { longestMs: longestNs / 1e6, allMs: (before - began) / 1e6 };
}

/** The fallback where the system does not report the processor time of a thread. */
async function delayOf(work: () => Promise<unknown>): Promise<MainThreadCost> {
  const monitor = monitorEventLoopDelay({ resolution: everyMs });
  monitor.enable();
  // The monitor measures between its ticks, so it needs one before the work and one after it.
  await takeTime(everyMs * 4);
  await work();
  await takeTime(everyMs * 4);
  monitor.disable();
  const longestMs = Math.max(0, monitor.max / 1e6 - everyMs);
  return { longestMs, allMs: longestMs };
}

/** The processor time of the main thread since its start. */
function computedNs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return Number.NaN;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
