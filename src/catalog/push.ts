import { startPushLoop } from '../delivery/push-loop.ts';
import type { Logger } from '../logger.ts';
import { changesChannel } from '../storage/change-log.ts';
import type { Database } from '../storage/database.ts';
import { createPushBatches } from '../storage/push-batches.ts';
import { planPushes } from '../storage/push-planning.ts';
import { type DuePush, pushColumns, pushesChannel, pushTable } from '../storage/pushes.ts';
import { createComposer, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';
import { recordPush } from './record-push.ts';

// Push, derived from the log of changes:
//
//   planner   the log → rows (subscriber, catalog) that are due
//   sender    a due row → what that subscriber has not got yet (compose-push.ts) → its answer → the row (record-push.ts)
//
// Publish knows nothing of either. A failing subscriber or catalog has its own rows and its own places, and delays nobody else.

/** Over all processes. */
const pushesPerSubscriber = 4;
const planPollMs = 5_000;
const hourMs = 3_600_000;

export function startPush(context: CatalogContext): { close(): Promise<void> } {
  const { database, logger } = context;
  const planner = startPlanner(database, logger);
  const sender = startSender(context);
  return {
    async close() {
      await Promise.all([planner.close(), sender.close()]);
    },
  };
}

/** Wakes by hints, and by a slow poll, because hints may get lost. */
function startPlanner(database: Database, logger: Logger): { close(): Promise<void> } {
  let closed = false;
  let wanted = false;
  let running: Promise<void> | undefined;

  function wake(): void {
    wanted = true;
    if (closed || running) return;
    running = plan().finally(() => {
      running = undefined;
    });
  }

  async function plan(): Promise<void> {
    while (wanted && !closed) {
      wanted = false;
      try {
        while (!closed && (await planPushes(database)) > 0);
      } catch (error) {
        logger.error({ err: error }, 'planning pushes failed; it will be tried again');
      }
    }
  }

  const unlisten = database.listen(changesChannel, wake);
  const poll = setInterval(wake, planPollMs);
  wake();
  return {
    async close() {
      closed = true;
      clearInterval(poll);
      await (await unlisten)();
      await running;
    },
  };
}

function startSender(context: CatalogContext): { close(): Promise<void> } {
  const { database, self, client, registry, metrics, logger, now, config } = context;
  const batches = createPushBatches(database);
  return startPushLoop<DuePush, Said>({
    database,
    table: pushTable,
    channel: pushesChannel,
    columns: pushColumns,
    perGroup: { column: 'subscriber', limit: pushesPerSubscriber },
    sender: { key: self, client, findKey: registry.findKey, logger, now },
    policy: { baseMs: config.RETRY_BASE_MS, giveUpAfterMs: config.RETRY_HOURS * hourMs },
    metrics,
    compose: createComposer(context, batches),
    failingSince: (row) => row.failing_since,
    record: (claim, verdict, said) => recordPush(context, batches, claim, verdict, said),
  });
}
