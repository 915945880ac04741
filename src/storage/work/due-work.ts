import { setMaxListeners } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';
import type { Database } from '../database.ts';
import { plainReason } from '../first-connection.ts';
import { createAlarm } from './alarm.ts';
import { type ClaimOptions, type GroupChoice, takeDue } from './claim-due.ts';
import { LeaseLost } from './lease-lost.ts';
import {
  type Claim,
  leaseMs as defaultLeaseMs,
  isSettled,
  isSettledForGood,
  type Lease,
  msUntilNextDue,
  pullForward,
  release,
  renew,
} from './leases.ts';
import { createWorkSlots } from './slots.ts';

export { LeaseLost } from './lease-lost.ts';
export { type Claim, type Lease, type Settlement, settle } from './leases.ts';

// The loop that processes a table of due work (see leases.ts). It wakes on a hint, when the next row becomes due, when a slot is freed while rows
// wait, and on a slow poll, because hints may get lost. The process that stores a row may process it at once: if it stores the row with a lease, no
// hint, poll or claim is needed. Unsettled work is never lost: the row is due again after a pause, or when its lease ends. The file is longer than others:
// everything in it shares the state of one loop.

const defaultPollMs = 5_000;
const renewalsPerLease = 4;
const defaultFinishMs = 3_000;
const defaultAbortMs = 2_000;
/** One claim fills several free slots: it waits until this many are free, or for a moment. */
const refillFraction = 0.25;
const gatherMs = 10;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
const pullForwardEveryMs = 5_000;

export interface WorkLoopOptions<Row extends object>
  extends Pick<ClaimOptions, 'where' | 'columns' | 'perGroup'> {
  database: Database;
  table: string;
  /** How long a hint waits for others, so that one claim serves all. */
  gatherMs?: number;
  concurrency: number;
  /** Additional rows whose handlers only wait. */
  aside?: number;
  groups?: () => GroupChoice;
  /** Does the work of a row and settles it. The signal aborts if the lease is lost or the process ends. After an error, the row is due again after a pause. */
  handle(claim: Claim<Row>, signal: AbortSignal, slot: Slot): Promise<void>;
  logger: Logger;
  /** The longest wait for the next attempt. A row that is due later is made due at once. */
  longestWaitMs?: number;
  leaseMs?: number;
  pollMs?: number;
  /** How long handlers may finish after the loop is closed, and after their signal was aborted. */
  finishMs?: number;
  abortMs?: number;
}

export interface Slot {
  /** The handler only waits: another row may use its slot. */
  stepAside(): void;
  /** The rest of the work does not concern the group: another row of it may begin. */
  leaveGroup(): void;
}

export interface WorkLoop {
  /** Stops claiming, lets handlers finish for a moment, then aborts them and releases their rows. */
  close(): Promise<void>;
}

export interface StartedLoop<Row> extends WorkLoop {
  /** Stores a row and processes it at once. If there is a slot, `store` gets a lease, and returns the claim if it stored the row with it. Otherwise it stores the row as due, with a hint. */
  handOver(group: string, store: Store<Row>): Promise<void>;
  /** Call this if due work may have changed outside the table. */
  wake(): void;
}

export type Store<Row> = (lease: Lease | undefined) => Promise<Claim<Row> | undefined>;

export function startWorkLoop<Row extends object = Record<string, unknown>>(
  options: WorkLoopOptions<Row>,
): StartedLoop<Row> {
  const { database, table, concurrency, leaseMs = defaultLeaseMs, pollMs = defaultPollMs } = options;
  const logger = options.logger.child({ table });
  // Other processes may hold rows for the default time.
  const longestLeaseMs = Math.max(leaseMs, defaultLeaseMs);
  const held = new Map<string, Held<Row>>();
  const waiting = new Set<string>();
  const slots = createWorkSlots(options.perGroup?.limit ?? concurrency);
  const alarm = createAlarm();
  let closing = false;
  /** The last claim filled all slots: more rows are probably due. */
  let full = false;
  /** Due rows may be waiting for a slot. Otherwise a freed slot is no reason to poll. */
  let left = false;
  /** A slot was freed during a poll, which may not have seen it. */
  let freed = false;
  let hinted: NodeJS.Timeout | undefined;
  let pullForwardAt = 0;

  const listening = database.listen(table, () => {
    if (options.gatherMs === undefined) alarm.ring();
    else hinted ??= setTimeout(ringHinted, options.gatherMs);
  });
  const renewal = setInterval(renewAll, leaseMs / renewalsPerLease);
  const running = run();

  function ringHinted(): void {
    hinted = undefined;
    alarm.ring();
  }

  async function run(): Promise<void> {
    while (!closing) {
      freed = false;
      const sleepMs = countFreeSlots() > 0 ? await claimMore() : pollMs;
      if (countFreeSlots() <= 0) full = left = true;
      if (freed && left) alarm.ring();
      if (!closing) await alarm.sleep(sleepMs);
    }
  }

  function countFreeSlots(): number {
    return concurrency - slots.size + Math.min(waiting.size, options.aside ?? 0);
  }

  async function claimMore(): Promise<number> {
    const { where, columns, perGroup } = options;
    const groups = options.groups?.();
    if (groups && 'only' in groups && groups.only.length === 0) return pollMs;
    const askedAt = performance.now();
    try {
      if (askedAt >= pullForwardAt) {
        const longestWaitMs = Math.max(options.longestWaitMs ?? 0, maxPauseMs);
        await pullForward(database, table, where, { longestWaitMs, longestLeaseMs });
        pullForwardAt = askedAt + pullForwardEveryMs;
      }
      // This comes before the claim, so that a row that becomes due in between is claimed. It is skipped while all slots get filled.
      const nextMs = full ? 0 : await msUntilNextDue(database, table, where);
      // Rows handed over meanwhile may take the same slots: a few too many are better than none during a poll.
      const limit = countFreeSlots();
      if (limit <= 0) return pollMs;
      const wanted = { limit, leaseMs, where, columns, perGroup, groups, leavers: slots.leavers() };
      const taken = await takeDue<Row>(database, table, wanted);
      for (const claim of taken.claims) begin(claim, askedAt);
      full = taken.claims.length === limit;
      left = taken.left;
      if (!left) slots.noteNoneWaiting();
      return full ? pollMs : Math.min(nextMs ?? pollMs, pollMs);
    } catch (error) {
      logger.warn({ reason: plainReason(error) }, 'cannot claim work; trying again soon');
      return Math.min(firstPauseMs, pollMs);
    }
  }

  async function handOver(group: string, store: Store<Row>): Promise<void> {
    const slot = closing || full || countFreeSlots() <= 0 ? undefined : slots.reserve(group);
    const askedAt = performance.now();
    try {
      const claim = await store(slot && { ...slot, ms: leaseMs });
      if (claim === undefined) slots.noteWaiting(group);
      else if (closing) await giveBack([claim]);
      // The acknowledgement is sent before the callback that it promises.
      else begin(claim, askedAt, immediate());
    } finally {
      if (slot && !held.has(slot.token)) {
        slots.free(slot.token);
        refill();
      }
    }
  }

  function begin(claim: Claim<Row>, leasedAt: number, ready: Promise<unknown> = Promise.resolve()): void {
    const { token, row } = claim;
    const abort = new AbortController();
    // Any part of the work may listen to this signal.
    setMaxListeners(0, abort.signal);
    const slot = {
      stepAside() {
        waiting.add(token);
        refill();
      },
      leaveGroup() {
        slots.leaveGroup(token);
        refill();
      },
    };
    slots.take(token, options.perGroup && (row as Record<string, unknown>)[options.perGroup.column]);
    const work = ready
      .then(() => finish(claim, abort.signal, slot))
      .finally(() => {
        held.delete(token);
        waiting.delete(token);
        slots.free(token);
        refill(claim);
      });
    held.set(token, { claim, abort, work, leasedUntil: leasedAt + leaseMs });
  }

  /** After a slot was freed: claims again, now or soon, if a row may need it. */
  function refill(ended?: Claim<Row>): void {
    freed = true;
    if (!left && (ended === undefined || isSettledForGood(ended))) return;
    const manyFree = countFreeSlots() >= concurrency * refillFraction;
    if (manyFree) alarm.ring();
    else setTimeout(alarm.ring, gatherMs);
  }

  async function finish(claim: Claim<Row>, signal: AbortSignal, slot: Slot): Promise<void> {
    try {
      await options.handle(claim, signal, slot);
      if (!isSettled(claim)) throw new Error('the handler left its row unsettled');
    } catch (error) {
      if (error instanceof LeaseLost) return logger.warn(error.message);
      const pause = closing
        ? { delayMs: 0, countAttempt: false }
        : { delayMs: pauseMs(claim), countAttempt: true };
      const { id, attempts } = claim;
      if (!closing) logger.error({ err: error, id, attempts }, 'work failed; it will be tried again');
      // Without a database the lease simply expires.
      await release(database, table, [claim], pause).catch((fault) =>
        logger.warn({ reason: plainReason(fault), id }, 'cannot give work back; its lease will run out'),
      );
    }
  }

  async function renewAll(): Promise<void> {
    const open = [...held.values()].filter(({ claim }) => !isSettled(claim));
    if (open.length === 0) return;
    const askedAt = performance.now();
    const claims = open.map(({ claim }) => claim);
    const kept = await renew(database, table, claims, leaseMs).catch(() => new Set<string>());
    for (const entry of open) {
      if (kept.has(entry.claim.token)) entry.leasedUntil = askedAt + leaseMs;
      else if (performance.now() > entry.leasedUntil && !isSettled(entry.claim))
        entry.abort.abort(new LeaseLost(table, entry.claim.id));
    }
  }

  async function close(): Promise<void> {
    const { finishMs = defaultFinishMs, abortMs = defaultAbortMs } = options;
    closing = true;
    clearTimeout(hinted);
    alarm.ring();
    await running;
    await atMost(finishMs, allWork());
    for (const { abort } of held.values()) abort.abort(new Error('the process ends'));
    await atMost(abortMs, allWork());
    await giveBack([...held.values()].map(({ claim }) => claim));
    clearInterval(renewal);
    listening.stop();
  }

  /** Releases the rows as if never tried. Without a database the leases simply expire. */
  async function giveBack(claims: Claim<Row>[]): Promise<void> {
    await release(database, table, claims, { delayMs: 0, countAttempt: false }).catch(() => undefined);
  }

  function allWork(): Promise<unknown> {
    return Promise.allSettled([...held.values()].map(({ work }) => work));
  }

  let closed: Promise<void> | undefined;
  return {
    handOver,
    wake: alarm.ring,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

interface Held<Row> {
  claim: Claim<Row>;
  abort: AbortController;
  work: Promise<void>;
  leasedUntil: number;
}

/** Exponential backoff, random in the upper half. */
function pauseMs({ attempts }: Claim<unknown>): number {
  const ceiling = Math.min(firstPauseMs * 2 ** Math.min(attempts - 1, 16), maxPauseMs);
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
