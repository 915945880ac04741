import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from './patience.ts';

// The only timers of the tests. What will happen is waited for, with a deadline; a fixed time is right only where nothing may happen meanwhile,
// or where a party of the test is slow.

const lookAgainMs = 10;
const seldomMs = 50;

/** Looks again and again until there is something to see, and returns it: first often, then seldom, because most looks cost more than the pause. */
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

/** A time in which something would happen if it were wrong: the test then asserts that it has not. */
export function watchFor(ms: number): Promise<void> {
  return delay(ms);
}

/** The time of a slow party, or of somebody who comes at a certain moment. */
export function takeTime(ms: number): Promise<void> {
  return delay(ms);
}

/** A time by the fake timers of vitest, which a test advances. */
export function fakeTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
