import { setTimeout as delay } from 'node:timers/promises';
import { notePresence, requestPull } from '../storage/discovery-feeds.ts';
import type { DiscoveryContext } from './context.ts';

const noteEveryMs = 10_000;
/** Whoever was away for longer may have missed pushes. */
const absenceMs = 60_000;

/** Notes at intervals that the service is up. After an absence, of the process, the machine or the database, everything is pulled. */
export function startPresence(context: DiscoveryContext): { close(): Promise<void> } {
  const stop = new AbortController();
  const running = run(context, stop.signal);
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

async function run(context: DiscoveryContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await note(context).catch((error) =>
      context.logger.warn({ reason: error instanceof Error ? error.message : error }, 'cannot note presence'),
    );
    await delay(noteEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

async function note({ database, logger, now }: DiscoveryContext): Promise<void> {
  await database.transaction(async (tx) => {
    const awayMs = await notePresence(tx, now());
    if (awayMs === undefined || awayMs <= absenceMs) return;
    const feeds = await requestPull(tx, { at: now(), spacingMs: 0 });
    if (feeds > 0) logger.info({ awayMs }, 'back after an absence; everything will be pulled');
  });
}
