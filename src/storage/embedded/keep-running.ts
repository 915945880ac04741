import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';

// A server that was killed, by hand or for want of memory, is started again: whoever uses it waits for a moment, and goes on.

const lookEveryMs = 2_000;
const maxPauseMs = 60_000;

export interface Kept {
  /** Looks at no more; what is begun is finished. */
  close(): Promise<void>;
}

/** Looks at intervals whether the server runs, and starts it where it does not; after a failure with growing patience. */
export function keepRunning(
  { isRunning, start }: { isRunning(): Promise<boolean>; start(signal: AbortSignal): Promise<void> },
  logger: Logger,
): Kept {
  const stop = new AbortController();
  const { signal } = stop;

  async function run(): Promise<void> {
    let pauseMs = lookEveryMs;
    for (;;) {
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (!(await isRunning())) await start(signal);
        pauseMs = lookEveryMs;
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        const reason = error instanceof Error ? error.message : String(error);
        logger.error(
          `PostgreSQL is gone and cannot be started again: ${reason} Next attempt in ${pauseMs / 1_000} s.`,
        );
      }
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
