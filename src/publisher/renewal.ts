import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

// Keeps published files from expiring: renews now, and again well before the earliest announced update.

interface RenewalOptions {
  /** Renews due files, and resolves with the earliest announced update. */
  refresh(): Promise<Date>;
  nextUpdateSeconds: number;
  metrics: Metrics;
  logger: Logger;
  now(): Date;
}

/** Maximum pause, even if nothing is due: the tree may have been replaced by an older one. */
const maxPauseMs = 10 * 60_000;

export function startRenewal({ refresh, nextUpdateSeconds, metrics, logger, now }: RenewalOptions) {
  const announcedAt = metrics.gauge(
    'signpost_publisher_next_update_seconds',
    'Unix time of the next update that is announced first',
  );
  let announced: Date | undefined;
  let problem = 'nothing was renewed yet';
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  async function renew(): Promise<void> {
    try {
      announced = await refresh();
      announcedAt.set(announced.getTime() / 1000);
      problem = 'the renewal has not ended';
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      if (!closed) logger.error({ err: error }, 'index and manifest could not be renewed; trying again');
    }
    if (closed) return;
    const pauseMs = Math.min(maxPauseMs, (nextUpdateSeconds * 1_000) / 8);
    timer = setTimeout(() => {
      running = renew();
    }, pauseMs);
  }

  let running = renew();
  return {
    /** Resolves after the first renewal, even if it failed. */
    first: running,
    /** The announced next update; throws if it has passed, or if the last attempt failed before the first success. */
    check() {
      if (announced === undefined) throw new Error(problem);
      if (announced <= now())
        throw new Error(`the update announced for ${announced.toISOString()} is overdue: ${problem}`);
      return { nextUpdate: announced.toISOString() };
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
