import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from './patience.ts';

// The only timers of the tests. What will happen is waited for, with a deadline; a fixed time is right only where nothing may happen meanwhile,
// or where a party of the test is slow.

const lookAgainMs = 10;

/** Looks again and again until there is something to see, and returns it. */
export async function until<T>(
  look: () => T | Promise<T>,
  what = 'what the test is about',
  timeoutMs = patienceMs,
): Promise<Exclude<T, false | undefined>> {
  for (const end = Date.now() + timeoutMs; ; await delay(lookAgainMs)) {
    const seen = await look();
    if (seen !== false && seen !== undefined) return seen as Exclude<T, false | undefined>;
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
  }
}

/** A time in which something would happen if it were wrong: the test then asserts that it has not. */
export function watchFor(ms: number): Promise<void> {
  return delay(ms);
}

/** What a slow party takes, or somebody who comes at a moment of his own. */
export function takeTime(ms: number): Promise<void> {
  return delay(ms);
}

/** A time by the fake timers of vitest, which a test advances. */
export function fakeTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
