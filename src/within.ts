import { setTimeout as delay } from 'node:timers/promises';

/** Waits for the work no longer than this: then `late` makes the error, and the work goes on unheard. */
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
