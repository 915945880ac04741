import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../logger.ts';
import type { Assignment, FromSupervisor, FromWorker, Started } from './messages.ts';

// The place of one worker: a process is forked for it, told what to do, killed when it hangs, and replaced when it ends.

export type Slot = ReturnType<typeof createSlot>;

export type Outcome = { started: Started } | { failed: string };

interface SlotOptions {
  number: number;
  /** Asked for each process. */
  assign(): Omit<Assignment, 'worker'>;
  /** Without it there is nothing to supervise: where it has never started, it is not replaced. */
  isRequired: boolean;
  logger: Logger;
  heard(message: FromWorker): void;
  ended(isReplaced: boolean): void;
}

/** Servers, loops and threads have ended by then. */
const stopWithinMs = 20_000;
/** A worker that has begun anything listens for them: one that is ended by them has nothing to finish. */
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'];

export function createSlot(options: SlotOptions) {
  const { number, logger } = options;
  let worker: Worker | undefined;
  let isRunning = false;
  let isReplaced = !options.isRequired;
  let isClosing = false;
  let endedWell = true;
  let watchdog: Watchdog | undefined;
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
      if (worker !== forked) return; // said before its end, and heard after it
      watchdog?.answered();
      if (message.kind === 'ready') {
        // A worker that is still loading its program hears nothing: it was told to stop in vain.
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
    // Where no process could be made, there is no exit.
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
    // That a worker dies at this moment shows by its exit.
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
    /** Has the worker finish what it has begun. Resolves when it has ended, with whether it did so by itself and without an error. */
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

// When a worker that ended is started again: soon the first time, and later each time that it ends again soon after its start.

const firstDelayMs = 200;
const maxDelayMs = 30_000;
/** If a worker lived at least this long, its end counts as the first again. */
const stableMs = 60_000;
/** After this many ends in a row, the supervisor gives advice. */
const adviseAfter = 3;

interface End {
  livedMs: number;
  /** Ends in a row before this one, each soon after a start. */
  before: number;
}

export function countEnds({ livedMs, before }: End): number {
  return livedMs >= stableMs ? 1 : before + 1;
}

export function restartDelayMs(ends: number): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (ends - 1));
}

/** A sentence for the operator, who has to look for the cause when a worker ends again and again. */
export function describeEnd(worker: number, cause: string, ends: number): string {
  const said = `Worker ${worker} ended (${cause}). It is started again in ${restartDelayMs(ends) / 1_000} s; the other workers keep running.`;
  if (ends < adviseAfter) return said;
  return `${said} It has ended ${ends} times in a row: look for its lines in this log ("worker":${worker}). If it was killed (SIGKILL), memory may be short: set fewer WORKERS, or a lower SEARCH_CACHE_PERCENT.`;
}

/** No work of a worker blocks its main thread for this long. */
const defaults = { everyMs: 5_000, maxUnanswered: 4 };

type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * A watchdog for a worker that hangs: its process is there, but does nothing any more. It counts pings without an answer, and not the time that has passed: after the whole machine stood still, the worker
 * is asked again before it is given up.
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
