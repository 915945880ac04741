import type { Logger } from '../logger.ts';
import { createAlarm } from './alarm.ts';
import { type ClaimOptions, claimDue, type GroupChoice } from './claim-due.ts';
import type { Database } from './database.ts';
import {
  type Claim,
  leaseMs as defaultLeaseMs,
  isSettled,
  LeaseLost,
  msUntilNextDue,
  release,
  renew,
} from './leases.ts';

export { claimDue } from './claim-due.ts';
export { type Claim, LeaseLost, type Settlement, settle } from './leases.ts';

// The loop that works off a table of due work (see leases.ts). It wakes by a hint, when the next row becomes due, when a
// place gets free, and by a slow poll, because hints may get lost. What a handler does not settle is never lost: it comes
// due again after a pause, or, with the process, when its lease ends.

const defaultPollMs = 5_000;
const renewalsPerLease = 4;
const defaultFinishMs = 3_000;
const defaultAbortMs = 2_000;
/** Places that get free soon after each other are filled by one claim: when so many are free, or after a moment. */
const refillFraction = 0.25;
const gatherMs = 10;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

export interface WorkLoopOptions<Row extends object>
  extends Pick<ClaimOptions, 'where' | 'columns' | 'perGroup'> {
  database: Database;
  table: string;
  /** Hints on this channel wake the loop. */
  channel: string;
  /** A hint waits so long for others, so that one claim does for all. */
  gatherMs?: number;
  /** How many rows are in work here at a time. */
  concurrency: number;
  /** How many rows more may be in work whose handlers stepped aside. */
  aside?: number;
  /** Asked before each claim. */
  groups?: () => GroupChoice;
  /**
   * Does the work of a row and settles it. The signal says that the result is not wanted any more: the lease was lost, or
   * the process ends. An error is logged, and the row is due again after a pause. A handler that merely waits may step aside, and lets
   * another row have its place.
   */
  handle(claim: Claim<Row>, signal: AbortSignal, stepAside: () => void): Promise<void>;
  logger: Logger;
  leaseMs?: number;
  pollMs?: number;
  /** How long handlers may finish when the loop is closed, and how long they get once they were told to stop. */
  finishMs?: number;
  abortMs?: number;
}

export interface WorkLoop {
  /** Claims nothing more, lets handlers finish for a moment, then tells them to stop, and gives back what is left. */
  close(): Promise<void>;
}

export function startWorkLoop<Row extends object = Record<string, unknown>>(
  options: WorkLoopOptions<Row>,
): WorkLoop {
  const {
    database,
    table,
    channel,
    concurrency,
    aside = 0,
    handle,
    leaseMs = defaultLeaseMs,
    pollMs = defaultPollMs,
  } = options;
  const logger = options.logger.child({ table });
  const held = new Map<string, Held>();
  /** The tokens of those whose handlers merely wait. */
  const waiting = new Set<string>();
  const alarm = createAlarm();
  let closing = false;
  /** The last claim filled all places: more is likely due. */
  let full = false;
  /** A hint came a moment ago. */
  let hinted: NodeJS.Timeout | undefined;

  const unlisten = database.listen(channel, () => {
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
      const sleepMs = freePlaces() > 0 ? await claimMore() : pollMs;
      if (!closing) await alarm.sleep(sleepMs);
    }
  }

  function freePlaces(): number {
    return concurrency - held.size + Math.min(waiting.size, aside);
  }

  /** Fills the free places; returns how long there will be nothing more to do, unless something rings. */
  async function claimMore(): Promise<number> {
    const { where, columns, perGroup } = options;
    const groups = options.groups?.();
    if (groups && 'only' in groups && groups.only.length === 0) return pollMs;
    try {
      // Asked first, so that a row that becomes due in between is claimed; and not at all while all places get filled.
      const nextMs = full ? 0 : await msUntilNextDue(database, table, where);
      const limit = freePlaces();
      const wanted = { limit, leaseMs, where, columns, perGroup, groups };
      const claims = await claimDue<Row>(database, table, wanted);
      for (const claim of claims) begin(claim);
      full = claims.length === limit;
      return full ? pollMs : Math.min(nextMs ?? pollMs, pollMs);
    } catch (error) {
      logger.warn({ reason: messageOf(error) }, 'cannot claim work; trying again soon');
      return Math.min(firstPauseMs, pollMs);
    }
  }

  function begin(claim: Claim<Row>): void {
    const abort = new AbortController();
    const refill = () => {
      const manyFree = freePlaces() >= concurrency * refillFraction;
      if (manyFree) alarm.ring();
      else setTimeout(alarm.ring, gatherMs);
    };
    const stepAside = () => {
      waiting.add(claim.token);
      refill();
    };
    const work = finish(claim, abort.signal, stepAside).finally(() => {
      held.delete(claim.token);
      waiting.delete(claim.token);
      refill();
    });
    held.set(claim.token, { claim, abort, work, leasedUntil: Date.now() + leaseMs });
  }

  async function finish(claim: Claim<Row>, signal: AbortSignal, stepAside: () => void): Promise<void> {
    try {
      await handle(claim, signal, stepAside);
      if (!isSettled(claim)) throw new Error('the handler left its row unsettled');
    } catch (error) {
      if (error instanceof LeaseLost) return logger.warn(error.message);
      const pause = closing
        ? { delayMs: 0, countAttempt: false }
        : { delayMs: pauseMs(claim), countAttempt: true };
      if (!closing)
        logger.error(
          { err: error, id: claim.id, attempts: claim.attempts },
          'work failed; it will be tried again',
        );
      // Without a database the lease runs out by itself.
      await release(database, table, [claim], pause).catch((fault) =>
        logger.warn(
          { reason: messageOf(fault), id: claim.id },
          'cannot give work back; its lease will run out',
        ),
      );
    }
  }

  async function renewAll(): Promise<void> {
    const open = [...held.values()].filter(({ claim }) => !isSettled(claim));
    if (open.length === 0) return;
    const askedAt = Date.now();
    const kept = await renew(
      database,
      table,
      open.map(({ claim }) => claim),
      leaseMs,
    ).catch(() => new Set<string>());
    for (const entry of open) {
      if (kept.has(entry.claim.token)) entry.leasedUntil = askedAt + leaseMs;
      else if (Date.now() > entry.leasedUntil && !isSettled(entry.claim))
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
    const left = [...held.values()].map(({ claim }) => claim);
    await release(database, table, left, { delayMs: 0, countAttempt: false }).catch(() => undefined);
    clearInterval(renewal);
    // Without a database the listener may never have got its connection.
    await atMost(
      abortMs,
      unlisten.then((stop) => stop()),
    );
  }

  function allWork(): Promise<unknown> {
    return Promise.allSettled([...held.values()].map(({ work }) => work));
  }

  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= close();
      return closed;
    },
  };
}

interface Held {
  claim: Claim<unknown>;
  abort: AbortController;
  work: Promise<void>;
  leasedUntil: number;
}

/** Exponential, in the upper half at random. */
function pauseMs({ attempts }: Claim<unknown>): number {
  const ceiling = Math.min(firstPauseMs * 2 ** Math.min(attempts - 1, 16), maxPauseMs);
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
