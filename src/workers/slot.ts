import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../logger.ts';
import type { Assignment, FromSupervisor, FromWorker, Started } from './messages.ts';
import { countEnds, describeEnd, restartDelayMs } from './restart-policy.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

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
