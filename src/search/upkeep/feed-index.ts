import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../storage/database.ts';
import { lockGenerations } from '../generations/in-use.ts';
import { type AnnouncedProcess, isAlive } from '../generations/processes.ts';
import { dropRetired } from './build.ts';
import type { Feed } from './feed.ts';

// Keeps the index in OpenSearch fed (feed.ts). Of several processes, one at a time does.

/** Between two looks for changes, at the lag, and for lists that nobody reads any more, in milliseconds. */
const everyMs = { feed: 200, lag: 1_000, lists: 30_000 };

interface FeedingContext {
  database: Database;
  logger: Logger;
  metrics?: Metrics;
  /** The promise (DISCOVER_MAX_LAG_MS). */
  maxLagMs: number;
  graceMs: number;
}

export interface FeedingProcess extends AnnouncedProcess {
  /** As last measured, in milliseconds; null while the first index is built. */
  lagMs(): number | null;
}

export function feedIndex(feed: Feed, context: FeedingContext): FeedingProcess {
  const { database, logger, metrics, maxLagMs, graceMs } = context;
  const gauge = metrics?.gauge(
    'signpost_search_lag_seconds',
    'Age of the oldest change that searches in OpenSearch do not see',
  );
  let lagMs: number | null = null;
  let isLate = false;
  const loops = [
    repeat({ what: 'feeding OpenSearch', everyMs: everyMs.feed, logger }, async (signal) => {
      while (!signal.aborted && (await feed.round()));
    }),
    repeat({ what: 'measuring the lag of OpenSearch', everyMs: everyMs.lag, logger }, async () => {
      lagMs = (await feed.lag()) ?? null;
      gauge?.set((lagMs ?? 0) / 1_000);
      const wasLate = isLate;
      isLate = lagMs !== null && lagMs > maxLagMs;
      if (isLate && !wasLate)
        logger.warn({ lagMs, maxLagMs }, 'searches in OpenSearch lack changes for too long');
      if (wasLate && !isLate) logger.info({ lagMs }, 'searches in OpenSearch see changes in time again');
    }),
    repeat({ what: 'retiring lists', everyMs: everyMs.lists, logger }, async () => {
      await retireLists(database);
      await dropRetired(database, graceMs);
    }),
  ];
  return {
    check: () => undefined,
    lagMs: () => lagMs,
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

/** When the first index is complete, and no process is alive that reads lists, they are neither written nor kept any more. Those that are built later, to go back to them, stay. */
export async function retireLists(database: Database): Promise<void> {
  const condition = `name is not null and replaces_lists and not exists (select from discovery.index_process where ${isAlive})`;
  if (!(await database.value(`select exists (select from discovery.external_index where ${condition})`)))
    return;
  await database.transaction(async (tx) => {
    await lockGenerations(tx);
    await tx.query(
      `with replaced as (update discovery.external_index set replaces_lists = false where ${condition} returning id)
       update discovery.generation set state = 'retired', since = now() where state <> 'retired' and exists (select from replaced)`,
    );
    // That a generation is retired changes nothing in OpenSearch.
    await tx.query('delete from discovery.change where xid = pg_current_xact_id()');
  });
}

/** A process reads lists: when none does any more, they may be retired. */
export async function keepLists(database: Database): Promise<void> {
  await database.query('update discovery.external_index set replaces_lists = true where not replaces_lists');
}
