import type { Metrics } from '../metrics.ts';
import { createBatch } from '../storage/batch.ts';
import type { Database, Transaction } from '../storage/database.ts';
import {
  callbackTable,
  type Delivered,
  type DueCallback,
  recordDelivered,
  recordGivenUp,
  recordRetry,
} from '../storage/work/callbacks.ts';
import {
  type Claim,
  LeaseLost,
  type StartedLoop,
  type Store,
  startWorkLoop,
  type WorkLoop,
  type WorkLoopOptions,
} from '../storage/work/due-work.ts';
import { exchangesToKeep } from '../storage/work/history.ts';
import { longestRetryWaitMs, nextAttemptMs, type Outcome, type RetryPolicy } from './retry-policy.ts';
import { type CallbackTools, type SentCallback, sendCallback } from './send-callback.ts';
import { createSlowReceivers, type SlowReceivers } from './slow-receivers.ts';

// Sends the callbacks of one role: the stored bytes, again and again under a fresh signature, until the receiver has them, refuses them, or the time
// is over. Every outcome is recorded under the lease, so a confirmed callback is never sent again, unless the process dies just before that is
// recorded. send-callback.ts makes one attempt.
//
// Slow receivers, however many, must not take the slots of the others:
//
//   quick   128 slots, 16 per receiver; a callback that waits for its answer for a moment leaves its slot
//   slow    64 slots, one for each receiver whose last answer was slow or missing

const quick = { concurrency: 128, perReceiver: 16, aside: 256 };
const slow = { concurrency: 64, perReceiver: 1 };
/** Callbacks queued in quick succession are claimed together; those delivered in quick succession are settled together. */
const gatherMs = 10;
const settling = { maxItems: 64, gatherMs: 50 };
/** An attempt leaves its slot after `asideMs`, and its receiver counts as slow after `slowMs`. */
const patience = { asideMs: 1_000, slowMs: 5_000 };

interface CallbackLoopOptions extends CallbackTools {
  role: string;
  database: Database;
  policy: RetryPolicy;
  metrics: Metrics;
}

export interface CallbackLoop extends WorkLoop {
  /** Sends a callback as soon as it is stored, if its receiver is quick and there is a slot (see due-work.ts). */
  handOver(receiver: string, store: Store<DueCallback>): Promise<void>;
}

export function startCallbackLoop(options: CallbackLoopOptions): CallbackLoop {
  countAttempts(options.metrics);
  const changed = () => {
    for (const loop of loops) loop.wake();
  };
  const slowOnes = createSlowReceivers({ ...patience, changed });
  const ending = new AbortController();
  const settle = createBatch({ ...settling, hurry: ending.signal }, (delivered: Delivered[]) =>
    recordDelivered(options.database, delivered),
  );
  const start = (slots: Slots) => startLoop({ ...options, slowOnes, settle }, slots);
  const quickLoop = start({ ...quick, groups: () => ({ except: slowOnes.list() }) });
  const slowLoop = start({ ...slow, groups: () => ({ only: slowOnes.list() }) });
  const loops = [quickLoop, slowLoop];
  return {
    async handOver(receiver, store) {
      if (slowOnes.has(receiver)) await store(undefined);
      else await quickLoop.handOver(receiver, store);
    },
    async close() {
      ending.abort();
      await Promise.all(loops.map((loop) => loop.close()));
    },
  };
}

interface LoopOptions extends CallbackLoopOptions {
  slowOnes: SlowReceivers;
  /** Returns whether it was still ours to settle. */
  settle(delivered: Delivered): Promise<boolean>;
}

function startLoop(options: LoopOptions, { perReceiver, ...slots }: Slots): StartedLoop<DueCallback> {
  const { role, database, sender, slowOnes } = options;
  return startWorkLoop<DueCallback>({
    ...slots,
    database,
    table: callbackTable,
    gatherMs,
    where: { role },
    perGroup: { column: 'receiver', limit: perReceiver },
    longestWaitMs: longestRetryWaitMs,
    logger: sender.logger,
    handle: (claim, signal, { stepAside, leaveGroup }) => {
      const send = () => sendCallback(options, claim.row, signal);
      return deliver(options, claim, () =>
        slowOnes.watch(claim.row.receiver, stepAside, send).finally(leaveGroup),
      );
    },
  });
}

interface Slots extends Pick<WorkLoopOptions<DueCallback>, 'concurrency' | 'aside' | 'groups'> {
  perReceiver: number;
}

async function deliver(options: LoopOptions, claim: Claim<DueCallback>, send: () => Promise<SentCallback>) {
  const { database, sender, metrics, settle } = options;
  const sent = isOver(claim) ? tooLate(claim.row) : await send();
  const { outcome, form, remark } = sent;
  const history = exchangesToKeep(sent.exchanges, {
    isDelivered: outcome.kind === 'delivered',
    failedBefore: claim.row.last_error !== null,
  });
  countAttempts(metrics).inc({ action: claim.row.action, outcome: outcome.kind });
  if (outcome.kind === 'delivered') {
    const { action, message_id: messageId, destination } = claim.row;
    const level = remark === undefined ? 'debug' : 'warn';
    sender.logger[level]({ action, messageId, destination, form, remark }, 'callback delivered');
    const { status } = outcome;
    const isSettled = await settle({ claim, at: sender.now(), status, form, remark, history });
    if (!isSettled) throw new LeaseLost(callbackTable, claim.id);
    return;
  }
  await database.transaction((tx) => recordFailed(tx, options, claim, { ...sent, outcome, history }));
}

function countAttempts(metrics: Metrics) {
  return metrics.counter('signpost_callbacks_total', 'Attempts to deliver a callback, by outcome', [
    'action',
    'outcome',
  ]);
}

/** Possibly no process was running at the time of the last repeat. A callback that was never tried is tried once, however late. */
function isOver({ row, attempts, at }: Claim<DueCallback>): boolean {
  return attempts > 1 && at > row.give_up_at;
}

/** The last attempt is more informative than the expired time. */
function tooLate({ last_status, last_error, form, parts }: DueCallback): SentCallback {
  const reason = last_error ?? 'it expired before it could be repeated';
  const outcome = { kind: 'retry', status: last_status ?? undefined, reason } as const;
  return { outcome, form: form ?? 'full', parts: parts ?? undefined, exchanges: [] };
}

type FailedCallback = SentCallback & { outcome: Exclude<Outcome, { kind: 'delivered' }>; history?: string };

async function recordFailed(
  tx: Transaction,
  { sender, policy }: CallbackLoopOptions,
  claim: Claim<DueCallback>,
  { outcome, form, parts, history }: FailedCallback,
): Promise<void> {
  const { action, message_id: messageId, destination, give_up_at: giveUpAt } = claim.row;
  const told = { action, messageId, destination };
  const now = sender.now();
  const { status, reason: error } = outcome;
  const failed = { status, error, form, parts, history };
  if (outcome.kind === 'refused') {
    sender.logger.warn({ ...told, error }, 'callback refused; it is parked until an operator replays it');
    return recordGivenUp(tx, claim, 'refused', { at: now, ...failed });
  }
  const { attempts } = claim;
  const { retryAfterMs } = outcome;
  const leftMs = giveUpAt.getTime() - claim.at.getTime();
  const dueInMs = nextAttemptMs(policy, { attempts, leftMs, retryAfterMs, random: Math.random() });
  if (dueInMs === undefined) {
    sender.logger.warn(
      { ...told, attempts, error },
      'callback not delivered in time; it is parked until an operator replays it',
    );
    return recordGivenUp(tx, claim, 'parked', { at: now, ...failed });
  }
  sender.logger.info({ ...told, attempts, error, dueInMs }, 'callback not delivered; it will be tried again');
  return recordRetry(tx, claim, { dueInMs, ...failed });
}
