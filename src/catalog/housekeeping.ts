import { repeat } from '../delivery/repeat.ts';
import { purgeChanges } from '../storage/catalog/change-log.ts';
import { purgeDownloads } from '../storage/catalog/downloads.ts';
import { purgeSubmissions } from '../storage/catalog/submissions.ts';
import { purgePlainReceivers } from '../storage/work/callback-forms.ts';
import { purgeCallbacks } from '../storage/work/callbacks.ts';
import { purgeRequests } from '../storage/work/request-memory.ts';
import type { CatalogContext } from './context.ts';

const intervalMs = 60_000;
const dayMs = 24 * 3_600_000;

/** Forgets what has been kept long enough: expired requests and downloads, the traces of finished work, old changes. */
export function startHousekeeping(context: CatalogContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'housekeeping', everyMs: intervalMs, logger }, () => tidyUp(context));
}

async function tidyUp({ database, config, logger, now }: CatalogContext): Promise<void> {
  const at = now();
  const longAgo = new Date(at.getTime() - config.HISTORY_DAYS * dayMs);
  const forgotten = {
    requests: await purgeRequests(database, at),
    submissions: await purgeSubmissions(database, longAgo),
    callbacks: await purgeCallbacks(database, longAgo),
    changes: await purgeChanges(database, longAgo),
    downloads: await purgeDownloads(database, at),
    receivers: await purgePlainReceivers(database, at),
  };
  if (Object.values(forgotten).some((count) => count > 0)) logger.debug(forgotten, 'housekeeping');
}
