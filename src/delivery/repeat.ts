import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';

/** Runs at once and then periodically until closed; the signal ends long runs. A failure is logged, and the next run tries again. */
export function repeat(
  { what, everyMs, logger }: { what: string; everyMs: number; logger: Logger },
  work: (signal: AbortSignal) => Promise<void>,
) {
  const stop = new AbortController();

  async function run(): Promise<void> {
    const { signal } = stop;
    while (!signal.aborted) {
      await work(signal).catch((error) =>
        logger.warn({ err: error }, `${what} failed; it will be tried again in ${everyMs / 1_000} s`),
      );
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}
