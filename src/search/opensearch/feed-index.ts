import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../storage/database.ts';
import type { IndexedSearch } from './indexed-search.ts';

/** Between two looks for changes, for old ones to purge, and at the lag, in milliseconds. */
const everyMs = { feed: 200, lag: 5_000 };

interface FedProcess {
  check(): void;
  close(): Promise<void>;
}

/** Keeps the index fed until it is closed. Of several processes, one at a time does. */
export function feedIndex(
  { config }: { database: Database; config: { DISCOVER_MAX_LAG_MS: number } },
  { feed }: IndexedSearch,
  { logger, metrics }: { logger: Logger; metrics?: Metrics },
): FedProcess {
  const gauge = metrics?.gauge(
    'signpost_index_lag_ms',
    'Age of the oldest change that searches in OpenSearch do not see',
  );
  const loops = [
    repeat({ what: 'feeding OpenSearch', everyMs: everyMs.feed, logger }, async (signal) => {
      while (!signal.aborted && (await feed.round()));
    }),
    repeat({ what: 'measuring the lag of OpenSearch', everyMs: everyMs.lag, logger }, async () => {
      const lag = await feed.lag();
      gauge?.set(lag ?? 0);
      if (lag !== undefined && lag > config.DISCOVER_MAX_LAG_MS)
        logger.warn({ lagMs: Math.round(lag) }, 'OpenSearch is behind by more than DISCOVER_MAX_LAG_MS');
    }),
  ];
  return {
    check: () => undefined,
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}
