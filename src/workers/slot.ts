import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../logger.ts';
import type { Assignment, FromSupervisor, FromWorker, Started } from './messages.ts';

// The slot of one worker: its process is forked, given its work, killed if it hangs, and replaced if it ends.

export type Slot = ReturnType<typeof createSlot>;

export type Outcome = { started: Started } | { failed: string };

interface SlotOptions {
  number: number;
  /** Called for each process. */
  assign(): Omit<Assignment, 'worker'>;
  /** Nothing works without this worker: if it has never started, it is not replaced. */
  isRequired: boolean;
  logger: Logger;
  heard(message: FromWorker): void;
  ended(isReplaced: boolean): void;
}

/** Limit for servers, loops and threads to end. */
const stopWithinMs = 20_000;
/** A working process handles these signals: one that is ended by them had nothing to finish. */
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'];

export function createSlot(options: SlotOptions) {
  const { number, logger } = options;
  let worker: Worker | undefined;
  let isRunning = false;
  let isReplaced = !options.isRequired;
  let isClosing = false;
  let endedWell = true;
  let watchdog: ReturnType<typeof startWatchdog> | undefined;
  let ends = 0;
  let timer: NodeJS.Timeout | undefined;
  let settleStart: (outcome: Outcome) => void = () => {};
  let settleEnd: () => void = () => {};

  function fork(): void {
    const forkedAt = performance.now();
    let reason: string | undefined;
    const forked = cluster.fork();
    worker = forked;
    forked.on('message', (message: FromWorker) => {
      if (worker !== forked) return; // sent before its end, received after it
      watchdog?.answered();
      if (message.kind === 'ready') {
        // While it loads its program, a worker misses messages, so it missed the first stop.
        if (isClosing) return send({ kind: 'stop' });
        send({ kind: 'assignment', assignment: { worker: number, ...options.assign() } });
        watchdog = startWatchdog({
          ping: () => send({ kind: 'ping' }),
          giveUp(silentMs) {
            reason = `it has not answered for ${silentMs / 1_000} s, and was killed`;
            forked.process.kill('SIGKILL');
          },
        });
      } else if (message.kind === 'failed') reason = message.reason;
      else if (message.kind === 'started') {
        isRunning = isReplaced = true;
        logger.info({ worker: number, pid: forked.process.pid }, 'a worker has started');
        settleStart(message);
      } else if (message.kind !== 'pong') options.heard(message);
    });
    forked.once('exit', (code, signal) => {
      endedWell = code === 0 || stopSignals.includes(signal);
      end(performance.now() - forkedAt, reason ?? signal ?? `exit code ${code}`);
    });
    // If the fork failed, there is no exit event.
    forked.on('error', (error) => forked.process.pid === undefined && end(0, error.message));
  }

  function end(livedMs: number, cause: string): void {
    const willBeReplaced = isReplaced && !isClosing;
    worker = undefined;
    isRunning = false;
    watchdog?.close();
    watchdog = undefined;
    settleStart({ failed: cause });
    settleEnd();
    options.ended(willBeReplaced);
    if (!willBeReplaced) return;
    ends = countEnds({ livedMs, before: ends });
    logger.error({ worker: number, ends }, describeEnd(number, cause, ends));
    timer = setTimeout(fork, restartDelayMs(ends));
  }

  function send(message: FromSupervisor): void {
    // If the worker is dying, the exit event handles it.
    if (worker?.isConnected()) worker.send(message, () => undefined);
  }

  return {
    start: () =>
      new Promise<Outcome>((resolve) => {
        settleStart = resolve;
        fork();
      }),
    isRunning: () => isRunning,
    send,
    /** Lets the worker finish its work. Resolves after its end: true if it ended on its own and without an error. */
    async close(): Promise<boolean> {
      isClosing = true;
      clearTimeout(timer);
      if (!worker) return true;
      const { process } = worker;
      const kill = setTimeout(() => process.kill('SIGKILL'), stopWithinMs);
      await new Promise<void>((resolve) => {
        settleEnd = resolve;
        send({ kind: 'stop' });
      });
      clearTimeout(kill);
      return endedWell;
    },
  };
}

// The delay before an ended worker is restarted: short at first, longer each time that it ends soon after its start.

const firstDelayMs = 200;
const maxDelayMs = 30_000;
/** If a worker lived at least this long, its end counts as the first one. */
const stableMs = 60_000;
/** After this many ends in a row, the supervisor gives advice. */
const adviseAfter = 3;

interface End {
  livedMs: number;
  /** Number of consecutive earlier ends, each soon after a start. */
  before: number;
}

export function countEnds({ livedMs, before }: End): number {
  return livedMs >= stableMs ? 1 : before + 1;
}

export function restartDelayMs(ends: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (ends - 1));
}

/** A sentence for the operator, who must find the cause if a worker ends repeatedly. */
export function describeEnd(worker: number, cause: string, ends: number): string {
  const said = `Worker ${worker} ended (${cause}). It is started again in ${restartDelayMs(ends) / 1_000} s; the other workers keep running.`;
  if (ends < adviseAfter) return said;
  return `${said} It has ended ${ends} times in a row: look for its lines in this log ("worker":${worker}). If it was killed (SIGKILL), memory may be short: set fewer WORKERS, or a lower SEARCH_CACHE_PERCENT.`;
}

/** No work blocks a worker's main thread for this long. */
const defaults = { everyMs: 5_000, maxUnanswered: 4 };

/**
 * A watchdog for hanging workers, whose process exists but does nothing. It counts unanswered pings instead of time: after the whole machine
 * stood still, a worker gets another ping before it is killed.
 */
export function startWatchdog(
  { ping, giveUp }: { ping(): void; giveUp(silentMs: number): void },
  { everyMs, maxUnanswered } = defaults,
) {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === maxUnanswered) {
      clearInterval(timer);
      return giveUp(maxUnanswered * everyMs);
    }
    unanswered += 1;
    ping();
  }, everyMs);
  return {
    answered() {
      unanswered = 0;
    },
    close: () => clearInterval(timer),
  };
}
