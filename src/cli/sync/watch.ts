import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createMetrics } from '../../metrics.ts';
import { type CommandContext, reasonOf } from '../command.ts';
import { interruptedExitCode, listenForInterrupt } from '../interrupt.ts';
import type { ListenAddress } from '../send/callback.ts';

// `signpost sync --watch`: a round every SYNC_SECONDS. A failed round is reported and retried with increasing delays. With --metrics, the
// outcomes are served at /metrics.

interface Round {
  status: string;
  /** Absent: the source has not changed. */
  counts?: RoundCounts;
}

export async function watch(
  round: (isFirst: boolean) => Promise<Round>,
  { seconds, metrics }: { seconds: number; metrics?: SyncMetrics },
  context: CommandContext,
): Promise<void> {
  const interrupt = listenForInterrupt(() => context.note('Stopping after this round.'));
  let failures = 0;
  let last = '';
  try {
    for (let isFirst = true; !interrupt.signal.aborted; isFirst = false) {
      const started = Date.now();
      try {
        const { status, counts } = await round(isFirst);
        metrics?.succeeded((Date.now() - started) / 1_000, counts);
        failures = 0;
        if (status !== last) context.note(`${new Date().toISOString()} ${status}`);
        last = status;
      } catch (error) {
        metrics?.failed((Date.now() - started) / 1_000);
        failures += 1;
        last = '';
        context.note(`${new Date().toISOString()} Failed, ${failures} in a row: ${reasonOf(error)}`);
      }
      const pause =
        seconds * 1_000 * Math.min(2 ** failures, longestFactor) * (1 + jitter * (Math.random() - 0.5));
      await delay(Math.max(0, pause - (Date.now() - started)), undefined, { signal: interrupt.signal }).catch(
        () => {},
      );
    }
    context.setExitCode(interruptedExitCode);
  } finally {
    interrupt.close();
  }
}

/** Keeps many operators that started together from calling together. */
const jitter = 0.2;
/** A source that is down for long is still called every few minutes. */
const longestFactor = 16;

interface RoundCounts {
  added: number;
  changed: number;
  retired: number;
  refused: number;
  unchanged: number;
  /** Missing, and not yet retired. */
  waiting: number;
}

type SyncMetrics = Awaited<ReturnType<typeof startMetrics>>;

export async function startMetrics({ host, port }: ListenAddress) {
  const metrics = createMetrics();
  const rounds = metrics.histogram(
    'signpost_sync_round_seconds',
    'Rounds of the sync, by outcome',
    ['outcome'],
    [0.1, 1, 5, 15, 60, 300],
  );
  const published = metrics.counter(
    'signpost_sync_catalogs_total',
    'Catalogs that were added, changed, retired or refused',
    ['change'],
  );
  const catalogs = metrics.gauge('signpost_sync_catalogs', 'Catalogs of the last round, by state', ['state']);
  const success = metrics.gauge('signpost_sync_success_time_seconds', 'When a round last succeeded');
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    const text = await metrics.render();
    response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    /** @param counts absent: the source has not changed */
    succeeded(seconds: number, counts?: RoundCounts): void {
      rounds.observe({ outcome: 'success' }, seconds);
      success.setToCurrentTime();
      if (!counts) return;
      const { unchanged, waiting, ...changes } = counts;
      for (const [change, count] of Object.entries(changes)) published.inc({ change }, count);
      catalogs.set({ state: 'current' }, counts.added + counts.changed + unchanged);
      catalogs.set({ state: 'missing' }, waiting);
    },
    failed: (seconds: number) => rounds.observe({ outcome: 'failure' }, seconds),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
