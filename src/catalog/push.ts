import { type Failure, notProcessed, startPushLoop, type Verdict } from '../delivery/push-loop.ts';
import type { Logger } from '../logger.ts';
import { smallerPart } from '../rules/push-message.ts';
import { changesChannel } from '../storage/change-log.ts';
import type { Database, Transaction } from '../storage/database.ts';
import type { Claim } from '../storage/due-work.ts';
import { planPushes } from '../storage/push-planning.ts';
import {
  type DuePush,
  pushColumns,
  pushesChannel,
  pushTable,
  recordAcknowledged,
  recordNoEndpoint,
  recordNothing,
  recordParked,
  recordRetry,
  recordSmaller,
} from '../storage/pushes.ts';
import { createComposer, maxPartBytes, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';

// Push, derived from the log of changes:
//
//   planner   the log → rows (subscriber, catalog) that are due
//   sender    a due row → what that subscriber has not got yet (compose-push.ts) → its answer → the row
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
  return startPushLoop<DuePush, Said>({
    database,
    table: pushTable,
    channel: pushesChannel,
    columns: pushColumns,
    perGroup: { column: 'subscriber', limit: pushesPerSubscriber },
    sender: { key: self, client, findKey: registry.findKey, logger, now },
    policy: { baseMs: config.RETRY_BASE_MS, giveUpAfterMs: config.RETRY_HOURS * hourMs },
    metrics,
    compose: createComposer(context),
    failingSince: (row) => row.failing_since,
    record: (tx, claim, verdict, said) => record(context, tx, claim, verdict, said),
  });
}

/** Catalog spec, POST /catalog/push: the table of answers. */
async function record(
  context: CatalogContext,
  tx: Transaction,
  claim: Claim<DuePush>,
  verdict: Verdict,
  said: Said | undefined,
): Promise<void> {
  const logger = context.logger.child({
    subscriber: claim.row.subscriber,
    catalogId: said?.kind === 'catalog' ? said.catalogId : undefined,
  });
  if (verdict.kind === 'failed') return recordFailure({ ...context, logger }, tx, claim, verdict);
  if (verdict.kind === 'refused') {
    const { status, reason: error } = verdict;
    logger.warn({ error }, 'push refused; parked until the next change');
    return recordParked(tx, claim, { status, error, needsFull: true, lost: false });
  }
  if (verdict.kind === 'unsent' || said?.kind !== 'catalog') {
    if (said?.kind !== 'no endpoint') return recordNothing(tx, claim);
    logger.warn('nothing pushed: the registry has no url for this subscriber');
    return recordNoEndpoint(tx, claim, 'the registry has no url for this subscriber');
  }
  const { version, networks, withdrawn } = said;
  const { status, remark } = verdict;
  logger.debug({ version, status }, 'pushed');
  const needsFull = status === notProcessed;
  return recordAcknowledged(tx, claim, { version, networks, withdrawn, status, remark, needsFull });
}

async function recordFailure(
  { logger, now }: CatalogContext,
  tx: Transaction,
  claim: Claim<DuePush>,
  verdict: Failure,
): Promise<void> {
  const { status, reason: error, lost, failingSince, dueAt, tooLargeBytes } = verdict;
  const failure = { status, error, lost, needsFull: verdict.unanswered || verdict.begun };
  const partBytes =
    tooLargeBytes === undefined
      ? undefined
      : smallerPart(claim.row.part_bytes ?? maxPartBytes, tooLargeBytes);
  if (partBytes !== undefined) {
    logger.info({ partBytes }, 'push too large for the receiver; sent again in smaller parts');
    return recordSmaller(tx, claim, { ...failure, partBytes, now: now() });
  }
  if (dueAt === undefined) {
    logger.warn({ error }, 'push not delivered in time; parked until the next change or a replay');
    return recordParked(tx, claim, { ...failure, needsFull: true });
  }
  logger.info({ error, dueAt }, 'push not delivered; it will be tried again');
  return recordRetry(tx, claim, { ...failure, failingSince, dueAt });
}
