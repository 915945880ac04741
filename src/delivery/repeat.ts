import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';

/** Does something at once, and again when the time has passed, until it is closed; what takes long ends at the signal. What fails is logged, and tried again the next time. */
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
