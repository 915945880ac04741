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

// Sends the callbacks of one role: the stored bytes, again and again under a fresh signature, until the receiver has them, refuses
// them, or it has taken too long. Every outcome is recorded under the lease, so that a confirmed callback is never sent again, unless the
// process dies in the moment before that is recorded. What one attempt sends is in send-callback.ts.
//
// Slow receivers must not take the slots of the others, however many they are:
//
//   quick   128 slots, 16 of them for one receiver; who has waited for its answer for a moment steps aside
//   slow    64 slots, one for each receiver that did not answer in good time when it was last sent something

const quick = { concurrency: 128, perReceiver: 16, aside: 256 };
const slow = { concurrency: 64, perReceiver: 1 };
/** Callbacks that are queued soon after each other are claimed together; those that are delivered soon after each other, settled. */
const gatherMs = 10;
const settling = { maxItems: 64, gatherMs: 50 };
/** An attempt steps aside after `asideMs`, and its receiver counts as slow after `slowMs`. */
const patience = { asideMs: 1_000, slowMs: 5_000 };

interface CallbackLoopOptions extends CallbackTools {
  role: string;
  database: Database;
  policy: RetryPolicy;
  metrics: Metrics;
}

export interface CallbackLoop extends WorkLoop {
  /** Sends a callback as soon as it is stored, where its receiver is quick and there is a slot (see due-work.ts). */
  handOver(receiver: string, store: Store<DueCallback>): Promise<void>;
}

export function startCallbackLoop(options: CallbackLoopOptions): CallbackLoop {
  const { database } = options;
  countAttempts(options.metrics);
  const changed = () => {
    for (const loop of loops) loop.wake();
  };
  const slowOnes = createSlowReceivers({ ...patience, changed });
  const ending = new AbortController();
  const settle = createBatch({ ...settling, hurry: ending.signal }, (delivered: Delivered[]) =>
    recordDelivered(database, delivered),
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
  /** Whether it was still ours to settle. */
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

/** Nobody may have been running when it was to be repeated for the last time. What was never tried is tried once, however late. */
function isOver({ row, attempts, at }: Claim<DueCallback>): boolean {
  return attempts > 1 && at > row.give_up_at;
}

/** The last attempt says more than that its time is over. */
function tooLate({ last_status, last_error, form, parts }: DueCallback): SentCallback {
  const reason = last_error ?? 'it expired before it could be repeated';
  const outcome = { kind: 'retry', status: last_status ?? undefined, reason } as const;
  return { outcome, form: form ?? 'full', parts: parts ?? undefined, exchanges: [] };
}

async function recordFailed(
  tx: Transaction,
  { sender, policy }: CallbackLoopOptions,
  claim: Claim<DueCallback>,
  {
    outcome,
    form,
    parts,
    history,
  }: SentCallback & { outcome: Exclude<Outcome, { kind: 'delivered' }>; history?: string },
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
