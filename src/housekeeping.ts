import { repeat } from './delivery/repeat.ts';
import type { ServiceContext } from './delivery/service.ts';
import { purgeChanges } from './storage/catalog/change-log.ts';
import { purgeEmptySearches } from './storage/console/empty-searches.ts';
import { purgeVersions } from './storage/registry/records.ts';
import { purgeCallbacks } from './storage/work/callbacks.ts';
import { claimHousekeeping, deleteOld, type RetainedKind } from './storage/work/retention.ts';

// Retention: rows that accumulate with use are deleted after their time, in small batches, by one process per database. docs/operating.md has the
// whole table, with the limits of the other tables; tests/ways/operations/retention.test.ts knows every table. search/port.ts purges the change feed.

const lookEveryMs = 60_000;
/** A little less than the interval, so that the same process can claim it next time. */
const claimMs = 0.9 * lookEveryMs;
const dayMs = 24 * 3_600_000;

type HousekeepingOptions = Pick<ServiceContext, 'database' | 'config' | 'logger' | 'now'>;

export function startHousekeeping(options: HousekeepingOptions): { close(): Promise<void> } {
  const { database, logger } = options;
  return repeat({ what: 'housekeeping', everyMs: lookEveryMs, logger }, async (signal) => {
    if (!(await claimHousekeeping(database, claimMs))) return;
    const deleted = await purgeExpired(options, signal);
    if (Object.values(deleted).some((count) => count > 0)) logger.debug(deleted, 'old rows were deleted');
  });
}

/** Deletes expired rows of each kind; returns the number. A failing kind does not stop the others. */
export async function purgeExpired(
  { database, config, logger, now }: HousekeepingOptions,
  signal?: AbortSignal,
): Promise<Record<string, number>> {
  const at = now();
  const daysAgo = (days: number) => new Date(at.getTime() - days * dayMs);
  const longAgo = daysAgo(config.HISTORY_DAYS);
  const parkedBefore = daysAgo(config.PARKED_DAYS);
  const byAge: Record<RetainedKind, Date> = {
    ...{ requests: at, sentRequests: at, receiverForms: at, downloads: at },
    ...{ submissions: longAgo, withdrawnPushes: longAgo, parkedPushes: parkedBefore },
    ...{ crawlLog: daysAgo(config.CRAWL_LOG_DAYS), audit: daysAgo(config.AUDIT_LOG_DAYS) },
    minutes: daysAgo(config.HEALTH_DAYS),
  };
  const steps: Record<string, () => Promise<number>> = {
    callbacks: () => purgeCallbacks(database, ['delivered', 'skipped'], longAgo),
    changes: () => purgeChanges(database, longAgo),
    parkedCallbacks: () => purgeCallbacks(database, ['refused', 'parked'], parkedBefore),
    recordVersions: () => purgeVersions(database, daysAgo(config.REGISTRY_HISTORY_DAYS)),
    emptySearches: () => purgeEmptySearches(database, daysAgo(config.EMPTY_SEARCH_DAYS)),
  };
  for (const [kind, before] of Object.entries(byAge))
    steps[kind] = () => deleteOld(database, kind as RetainedKind, before);
  const deleted: Record<string, number> = {};
  for (const [kind, purge] of Object.entries(steps)) {
    if (signal?.aborted) break;
    try {
      deleted[kind] = await purge();
    } catch (error) {
      logger.warn({ err: error, kind }, 'old rows could not be deleted; it will be tried again in a minute');
    }
  }
  return deleted;
}
