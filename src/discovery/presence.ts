import { repeat } from '../delivery/repeat.ts';
import { notePresence, requestPull } from '../storage/feeds/feeds.ts';
import type { DiscoveryContext } from './context.ts';

const noteEveryMs = 10_000;
/** Whoever was away for longer may have missed pushes. */
const absenceMs = 60_000;

/** Notes at intervals that the service is up. After an absence, of the process, the machine or the database, everything is pulled. */
export function startPresence(context: DiscoveryContext): { close(): Promise<void> } {
  const { logger } = context;
  return repeat({ what: 'noting the presence', everyMs: noteEveryMs, logger }, () => note(context));
}

async function note({ database, logger }: DiscoveryContext): Promise<void> {
  await database.transaction(async (tx) => {
    const awayMs = await notePresence(tx);
    if (awayMs === undefined || awayMs <= absenceMs) return;
    const feeds = await requestPull(tx, { spacingMs: 0 });
    if (feeds > 0) logger.info({ awayMs }, 'back after an absence; everything will be pulled');
  });
}
