import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';

// Keeps what is published from running out: looks now, and again well before the update that is announced first.

interface RenewalOptions {
  /** Renews what is due, and resolves with the next update that is announced first. */
  refresh(): Promise<Date>;
  nextUpdateSeconds: number;
  metrics: Metrics;
  logger: Logger;
  now(): Date;
}

/** Also where nothing is due, it looks so often: somebody may have put an older tree in the place of this one. */
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
    /** When the first look is over, however it ended. */
    first: running,
    /** When the next update is announced; throws when that time is over, or the last attempt failed before there was one. */
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
