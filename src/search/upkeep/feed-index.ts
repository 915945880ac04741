import { repeat } from '../../delivery/repeat.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../storage/database.ts';
import { lockGenerations } from '../generations/in-use.ts';
import { type AnnouncedProcess, isAlive } from '../generations/processes.ts';
import { dropRetired } from './build.ts';
import type { Feed } from './feed.ts';

// Feeds the index in OpenSearch (feed.ts), one process at a time.

/** Intervals of the checks for changes, for the lag, and for lists that nobody reads any more, in milliseconds. */
const everyMs = { feed: 200, lag: 1_000, lists: 30_000 };

interface FeedingContext {
  database: Database;
  logger: Logger;
  metrics?: Metrics;
  /** The promised maximum (DISCOVER_MAX_LAG_MS). */
  maxLagMs: number;
  graceMs: number;
}

export type FeedingProcess = ReturnType<typeof feedIndex>;

export function feedIndex(feed: Feed, context: FeedingContext) {
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
    /** Last measured lag, in milliseconds; null while the first index is built. */
    lagMs: () => lagMs,
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  } satisfies AnnouncedProcess & { lagMs(): number | null };
}

/** When the first index is complete, and no live process reads lists, the lists are retired. Lists that are built later, to return to them, stay. */
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
    // Retiring a generation changes nothing in OpenSearch.
    await tx.query('delete from discovery.change where xid = pg_current_xact_id()');
  });
}

/** Notes that a process reads lists. They may be retired when none does any more. */
export async function keepLists(database: Database): Promise<void> {
  await database.query('update discovery.external_index set replaces_lists = true where not replaces_lists');
}
