import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmptySearches } from '../../storage/console/empty-searches.ts';
import {
  type AboutProcess,
  measureShared,
  type Numbers,
  writeMinute,
} from '../../storage/console/minutes.ts';
import type { ConsoleContext } from '../context.ts';
import { countProcess } from './count-process.ts';

// Every process with a database writes its numbers: one row a minute, updated a few times, so that the console shows something soon after a start.
// If the database is down, the numbers are missing in the charts, but nowhere else.

const tickMs = 15_000;
const minuteMs = 60_000;
const resolutionMs = 10;

interface RecorderOptions extends Pick<ConsoleContext, 'database' | 'metrics' | 'logger' | 'now'> {
  about: AboutProcess;
  emptySearches: EmptySearches;
}

export function startMinuteRecorder(options: RecorderOptions): { close(): Promise<void> } {
  const { database, about, metrics, emptySearches, logger, now } = options;
  const process = randomUUID();
  const loop = monitorEventLoopDelay({ resolution: resolutionMs });
  const stop = new AbortController();
  let minute = startOfMinute(now());
  /** The counters at the start of the minute, and at the last sample. */
  let base: Numbers = {};
  let last: Numbers = {};

  async function record(): Promise<void> {
    const counted = await countProcess(metrics);
    const current = startOfMinute(now());
    if (current.getTime() !== minute.getTime()) {
      // Counts since the last sample of the old minute go to the new minute: a few seconds at most.
      [minute, base] = [current, last];
      loop.reset();
    }
    last = counted;
    const numbers = { ...subtract(counted, base), ...measureProcess(loop) };
    await writeMinute(database, { at: minute, process, about, numbers });
    await emptySearches.flush(database, now());
    await measureShared(database, minute);
  }

  async function run(): Promise<void> {
    loop.enable();
    const { signal } = stop;
    while (!signal.aborted) {
      // Takes a sample shortly before the minute ends, so that its row is nearly complete.
      const untilNext = Math.min(tickMs, minuteMs - (now().getTime() % minuteMs) - lastSampleMs);
      await delay(untilNext > 0 ? untilNext : tickMs, undefined, { signal, ref: false }).catch(() => {});
      await record().catch((error) =>
        logger.debug({ err: error }, 'the numbers of this minute were not written'),
      );
    }
    loop.disable();
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

/** The last sample of a minute is taken this long before its end. */
const lastSampleMs = 500;

function startOfMinute(time: Date): Date {
  return new Date(Math.floor(time.getTime() / minuteMs) * minuteMs);
}

function subtract(counted: Numbers, base: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(counted).map(([name, value]) => [name, value - (base[name] ?? 0)]),
  );
}

function measureProcess(loop: ReturnType<typeof monitorEventLoopDelay>): Numbers {
  const p99 = loop.count === 0 ? 0 : loop.percentile(99) / 1e6 - resolutionMs;
  return { eventLoopP99Ms: Math.max(0, Math.round(p99 * 10) / 10), rssBytes: process.memoryUsage.rss() };
}
