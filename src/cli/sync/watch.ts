import { setTimeout as delay } from 'node:timers/promises';
import { type CommandContext, reasonOf } from '../command.ts';
import { interruptedExitCode, listenForInterrupt } from '../interrupt.ts';
import type { RoundCounts, SyncMetrics } from './metrics.ts';

// `signpost sync --watch`: a round every SYNC_SECONDS. A failed round is reported and retried with increasing delays.

export interface Round {
  status: string;
  /** Absent: the source has not changed. */
  counts?: RoundCounts;
}

export async function watch(
  round: (isFirst: boolean) => Promise<Round>,
  { seconds, metrics }: { seconds: number; metrics?: SyncMetrics },
  context: CommandContext,
): Promise<void> {
  const interrupt = listenForInterrupt(() => context.note('Stopping after this round.'));
  let failures = 0;
  let last = '';
  try {
    for (let isFirst = true; !interrupt.signal.aborted; isFirst = false) {
      const started = Date.now();
      try {
        const { status, counts } = await round(isFirst);
        metrics?.succeeded((Date.now() - started) / 1_000, counts);
        failures = 0;
        if (status !== last) context.note(`${new Date().toISOString()} ${status}`);
        last = status;
      } catch (error) {
        metrics?.failed((Date.now() - started) / 1_000);
        failures += 1;
        last = '';
        context.note(`${new Date().toISOString()} Failed, ${failures} in a row: ${reasonOf(error)}`);
      }
      const pause =
        seconds * 1_000 * Math.min(2 ** failures, longestFactor) * (1 + jitter * (Math.random() - 0.5));
      await delay(Math.max(0, pause - (Date.now() - started)), undefined, { signal: interrupt.signal }).catch(
        () => {},
      );
    }
    context.setExitCode(interruptedExitCode);
  } finally {
    interrupt.close();
  }
}

/** Keeps many operators that started together from calling together. */
const jitter = 0.2;
/** A source that is down for long is still called every few minutes. */
const longestFactor = 16;
