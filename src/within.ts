import { setTimeout as delay } from 'node:timers/promises';

/** Waits for the work up to this time; after that, `late` makes the error, and the result of the work is ignored. */
export async function within<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const timer = new AbortController();
  const timeout = delay(ms, undefined, { signal: timer.signal }).then(() => {
    throw late();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timer.abort();
  }
}
