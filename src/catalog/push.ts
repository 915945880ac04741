import type { Lane, LaneWithSlots, Taken } from '../delivery/lane-loop.ts';
import { type Pushed, startPushLoop, type Verdict } from '../delivery/push-loop.ts';
import { repeat } from '../delivery/repeat.ts';
import { longestRetryWaitMs } from '../delivery/retry-policy.ts';
import type { FormTools } from '../delivery/strict-renderer.ts';
import { applyOutcome, type PushOutcome } from '../rules/push-outcome.ts';
import { createBatch } from '../storage/batch.ts';
import { changesChannel } from '../storage/catalog/change-log.ts';
import { planPushes } from '../storage/catalog/push-planning.ts';
import { type PushResult, writePushResults } from '../storage/catalog/push-results.ts';
import {
  type DuePush,
  msUntilNextPush,
  nextPushDue,
  pullPushesForward,
  pushLanes,
  takePushes,
} from '../storage/catalog/pushes.ts';
import { createAlarm } from '../storage/work/alarm.ts';
import { LeaseLost } from '../storage/work/due-work.ts';
import { exchangesToKeep } from '../storage/work/history.ts';
import { createComposer, maxPartBytes, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';

// Push, derived from the log of changes:
//
//   planner   the log → rows (subscriber, catalog) that are due
//   sender    a due row → what that subscriber is missing (compose-push.ts) → its answer → the row
//
// Publish does not know about either. A failing subscriber or catalog has separate rows and slots, and delays nobody else.

/** Catalogs in flight to one subscriber at a time, over all processes. */
const pushesPerSubscriber = 4;
const planPollMs = 5_000;
const pullForwardEveryMs = 5_000;
const hourMs = 3_600_000;

export function startPush(context: CatalogContext, tools: FormTools): { close(): Promise<void> } {
  const { database, logger } = context;
  const loops = [
    startPlanner(context),
    startSender(context, tools),
    repeat({ what: 'pulling pushes forward', everyMs: pullForwardEveryMs, logger }, () =>
      pullPushesForward(database, longestRetryWaitMs),
    ),
  ];
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

/** Wakes by hints, and by a slow poll, because hints may get lost. */
function startPlanner({ database, logger }: CatalogContext): { close(): Promise<void> } {
  const alarm = createAlarm();
  const listening = database.listen(changesChannel, alarm.ring);
  let closing = false;

  async function run(): Promise<void> {
    while (!closing) {
      const planned = await planPushes(database).catch((error: unknown) => {
        logger.error({ err: error }, 'planning pushes failed; it will be tried again');
        return 0;
      });
      if (planned === 0 && !closing) await alarm.sleep(planPollMs);
    }
  }

  const running = run();
  return {
    async close() {
      closing = true;
      alarm.ring();
      await running;
      listening.stop();
    },
  };
}

function startSender(context: CatalogContext, { forms, strict }: FormTools): { close(): Promise<void> } {
  const { database, self, client, registry, metrics, logger, now, config } = context;
  return startPushLoop<DuePush, Said>({
    database,
    ...pushLanes,
    longestWaitMs: longestRetryWaitMs,
    pushesPerReceiver: pushesPerSubscriber,
    sender: { key: self, client, findKey: registry.findKey, logger, now },
    forms,
    policy: { baseMs: config.RETRY_BASE_MS, giveUpAfterMs: config.RETRY_HOURS * hourMs },
    metrics,
    take: (lanes) => take(context, lanes),
    nextDue: nextPushDue,
    compose: createComposer(context, strict),
    traceparentOf: ({ basis }) => basis.traceparent,
    failures: ({ record, takenAt }) => ({ ...record, takenAt }),
    ...createPushRecorder(context),
  });
}

async function take({ database }: CatalogContext, lanes: readonly LaneWithSlots[]): Promise<Taken<DuePush>> {
  const items = (await takePushes(database, lanes)).map((push) => ({ lane: push.subscriber, item: push }));
  // Lanes that are held and have a free slot must not miss items that become due meanwhile.
  const taken = (name: string) => items.filter(({ lane }) => lane === name).length;
  const watched = lanes.filter(
    ({ name, slots, underWay }) => taken(name) < slots && underWay.length + taken(name) > 0,
  );
  if (watched.length === 0) return { items };
  const names = watched.map(({ name }) => name);
  return { items, nextMs: await msUntilNextPush(database, names) };
}

// Records the results of pushes in batches, and reports failures to the operator.

/** No receiver waits until its result is written; only its next push of the same catalog does. */
const batchLimits = { maxItems: 500, gatherMs: 10 };

function createPushRecorder({ database, logger }: CatalogContext) {
  const writeBatch = createBatch(batchLimits, (results: PushResult[]) => writePushResults(database, results));

  async function write(result: PushResult): Promise<void> {
    if (!(await writeBatch(result))) throw new LeaseLost('catalog.push', result.push.id);
  }

  return {
    async record(push: DuePush, lane: Lane, { verdict, said, exchanges }: Pushed<Said>) {
      const outcome = outcomeOf(verdict, said);
      const applied = applyOutcome(push.record, outcome, { maxPartBytes, at: push.takenAt });
      const { dueInMs, restMs } = applied;
      const record = { ...applied.record, form: verdict.form ?? applied.record.form };
      const { version } = outcome.kind === 'acknowledged' ? outcome.said : push.basis.catalog;
      const history = exchangesToKeep(exchanges, {
        isDelivered: outcome.kind === 'acknowledged',
        failedBefore: push.record.lastError !== null,
      });
      await write({ push, lane, record, seenVersion: version, dueInMs, restMs, history });
      if (record.lastError === null) return;
      const { subscriber, basis } = push;
      const { state, lastStatus: status, lastError: reason } = record;
      const level = state === 'pending' || state === 'acknowledged' ? 'info' : 'warn';
      logger[level](
        { subscriber, catalogId: basis.catalogId, status, reason, dueInMs },
        `push ${outcome.kind}: ${state}`,
      );
    },

    /** Nothing was tried: the push is still due. */
    putBack: (push: DuePush, lane: Lane) =>
      write({ push, lane, record: push.record, seenVersion: push.basis.catalog.version, dueInMs: 0 }),
  };
}

function outcomeOf(verdict: Verdict, said: Said | undefined): PushOutcome {
  if (verdict.kind === 'failed' || verdict.kind === 'refused') return verdict;
  if (verdict.kind === 'delivered' && said?.kind === 'catalog')
    return { kind: 'acknowledged', status: verdict.status, remark: verdict.remark, said };
  if (said?.kind === 'no endpoint')
    return { kind: 'no endpoint', reason: 'the registry has no url for this subscriber' };
  return { kind: 'nothing to say' };
}
