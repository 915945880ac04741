import { createServer } from 'node:http';
import { createMetrics } from '../../metrics.ts';
import type { ListenAddress } from '../send/callback.ts';

export interface RoundCounts {
  added: number;
  changed: number;
  retired: number;
  refused: number;
  unchanged: number;
  /** Missing, and not yet retired. */
  waiting: number;
}

export type SyncMetrics = Awaited<ReturnType<typeof startMetrics>>;

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
