import type { LaneWithSlots, Taken } from '../delivery/lane-loop.ts';
import { startPushLoop } from '../delivery/push-loop.ts';
import { repeat } from '../delivery/repeat.ts';
import { longestRetryWaitMs } from '../delivery/retry-policy.ts';
import type { FormTools } from '../delivery/strict-renderer.ts';
import { changesChannel } from '../storage/catalog/change-log.ts';
import { planPushes } from '../storage/catalog/push-planning.ts';
import {
  type DuePush,
  msUntilNextPush,
  nextPushDue,
  pullPushesForward,
  pushLanes,
  takePushes,
} from '../storage/catalog/pushes.ts';
import { createAlarm } from '../storage/work/alarm.ts';
import { createComposer, type Said } from './compose-push.ts';
import type { CatalogContext } from './context.ts';
import { createPushRecorder } from './record-push.ts';

// Push, derived from the log of changes:
//
//   planner   the log → rows (subscriber, catalog) that are due
//   sender    a due row → what that subscriber has not got yet (compose-push.ts) → its answer → the row (record-push.ts)
//
// Publish knows nothing of either. A failing subscriber or catalog has its own rows and its own slots, and delays nobody else.

/** Over all processes: catalogs that are on their way to a subscriber at a time. */
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
  const pushes = await takePushes(database, lanes);
  const items = pushes.map((push) => ({ lane: push.subscriber, item: push }));
  // Lanes that stay held with a free slot must not miss what becomes due meanwhile.
  const taken = (name: string) => items.filter(({ lane }) => lane === name).length;
  const watched = lanes.filter(
    ({ name, slots, underWay }) => taken(name) < slots && underWay.length + taken(name) > 0,
  );
  if (watched.length === 0) return { items };
  const names = watched.map(({ name }) => name);
  return { items, nextMs: await msUntilNextPush(database, names) };
}
