import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from './patience.ts';

// The only timers of the tests. Tests wait for events with a deadline; a fixed time is right only where nothing may happen meanwhile, or where a
// participant of the test is slow.

const lookAgainMs = 10;
const seldomMs = 50;

/** Repeats until there is a result, and returns it: first often, then less often, because most checks cost more than the pause. */
export async function until<T>(
  look: () => T | Promise<T>,
  what = 'what the test is about',
  timeoutMs = patienceMs,
): Promise<Exclude<T, false | undefined>> {
  const begin = Date.now();
  for (;;) {
    const seen = await look();
    if (seen !== false && seen !== undefined) return seen as Exclude<T, false | undefined>;
    const waitedMs = Date.now() - begin;
    if (waitedMs > timeoutMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await delay(Math.min(Math.max(waitedMs / 10, lookAgainMs), seldomMs));
  }
}

/** A time in which an error would show: the test then asserts that nothing happened. */
export function watchFor(ms: number): Promise<void> {
  return delay(ms);
}

/** The time that a slow participant takes, or that passes before somebody arrives. */
export function takeTime(ms: number): Promise<void> {
  return delay(ms);
}

/** A time on vitest's fake timers, which a test advances. */
export function fakeTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
