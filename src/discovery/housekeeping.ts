import { repeat } from '../delivery/repeat.ts';
import { purgeChanges } from '../search/cache/invalidation.ts';
import { purgeLog } from '../storage/crawl/log.ts';
import { purgePlainReceivers } from '../storage/work/callback-forms.ts';
import { purgeCallbacks } from '../storage/work/callbacks.ts';
import { purgeRequests } from '../storage/work/request-memory.ts';
import { purgeSent } from '../storage/work/sent-requests.ts';
import type { DiscoveryContext } from './context.ts';

const intervalMs = 60_000;
const dayMs = 24 * 3_600_000;

/** Forgets what has been kept long enough: requests that nobody may repeat any more, callbacks that were settled or never came, old lines of the crawl log,
 * changes of the index that every process knows of. */
export function startHousekeeping(context: DiscoveryContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'housekeeping', everyMs: intervalMs, logger }, () => tidyUp(context));
}

async function tidyUp({ database, config, now }: DiscoveryContext): Promise<void> {
  const at = now();
  await purgeRequests(database, at);
  await purgeCallbacks(database, new Date(at.getTime() - config.HISTORY_DAYS * dayMs));
  await purgeSent(database, at);
  await purgePlainReceivers(database, at);
  await purgeLog(database, new Date(at.getTime() - config.CRAWL_LOG_DAYS * dayMs));
  await purgeChanges(database);
}
