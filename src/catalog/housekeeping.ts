import { setTimeout as delay } from 'node:timers/promises';
import { purgeCallbacks } from '../storage/callbacks.ts';
import { purgeChanges } from '../storage/change-log.ts';
import { purgeDownloads } from '../storage/downloads.ts';
import { purgeRequests } from '../storage/request-memory.ts';
import { purgeSubmissions } from '../storage/submissions.ts';
import type { CatalogContext } from './context.ts';

const intervalMs = 60_000;
const dayMs = 24 * 3_600_000;

/** Forgets what has been kept long enough: expired requests and downloads, the traces of finished work, old changes. */
export function startHousekeeping(context: CatalogContext): { close(): Promise<void> } {
  const stop = new AbortController();
  const running = run(context, stop.signal);
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

async function run(context: CatalogContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await tidyUp(context).catch((error) =>
      context.logger.warn({ err: error }, 'housekeeping failed; it will be tried again'),
    );
    await delay(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
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
  };
  if (Object.values(forgotten).some((count) => count > 0)) logger.debug(forgotten, 'housekeeping');
}
