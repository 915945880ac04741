import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';
import { plainReason } from '../first-connection.ts';

// A server that was killed, by hand or because memory ran out, is started again: its users wait for a moment and go on.

const lookEveryMs = 2_000;
const maxPauseMs = 60_000;

/** Looks at intervals whether the server runs, and starts it where it does not; after a failure with growing patience. */
export function keepRunning(
  { isRunning, start }: { isRunning(): Promise<boolean>; start(signal: AbortSignal): Promise<void> },
  logger: Logger,
) {
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
        const next = `Next attempt in ${pauseMs / 1_000} s.`;
        logger.error(`PostgreSQL is gone and cannot be started again: ${plainReason(error)} ${next}`);
      }
    }
  }

  const running = run();
  return {
    /** Looks at no more; what is begun is finished. */
    async close() {
      stop.abort();
      await running;
    },
  };
}
