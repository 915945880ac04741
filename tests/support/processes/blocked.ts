import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'vitest';
import { takeTime } from '../time.ts';

// The cost of some work on the main thread of this process, in its processor time: a machine that is busy with others delays everything, and that says
// nothing about us. `npm run test:blocked` sets LONGEST_BLOCK_MS: then the delay of the event loop counts, against that many milliseconds.

const everyMs = 5;
const longestAllowedMs = Number(process.env.LONGEST_BLOCK_MS ?? 0);
export const rounds = longestAllowedMs > 0 ? 5 : 3;

/** The measurements, round by round, in a thread and in place. */
export function expectNobodyHeldUp(asideMs: readonly number[], inPlaceMs: readonly number[]): void {
  expect(median(asideMs)).toBeLessThan(longestAllowedMs > 0 ? longestAllowedMs : median(inPlaceMs) / 2);
}

export interface MainThreadCost {
  /** The most between two rounds of the event loop: how long it was blocked. */
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

/** Where the system does not tell what a thread has computed, this has to do. */
async function delayOf(work: () => Promise<unknown>): Promise<MainThreadCost> {
  const monitor = monitorEventLoopDelay({ resolution: everyMs });
  monitor.enable();
  // The monitor measures from one of its ticks to the next: one before the work, and one after it.
  await takeTime(everyMs * 4);
  await work();
  await takeTime(everyMs * 4);
  monitor.disable();
  const longestMs = Math.max(0, monitor.max / 1e6 - everyMs);
  return { longestMs, allMs: longestMs };
}

/** By the main thread, since it was started. */
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
