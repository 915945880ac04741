import { setTimeout as delay } from 'node:timers/promises';
import { type CommandContext, CommandError } from '../command.ts';
import { interruptedExitCode, listenForInterrupt } from '../interrupt.ts';

// `signpost sync --watch`: a round every SYNC_SECONDS. One that fails is reported and tried again, later and later.

/** @param round returns its status line */
export async function watch(
  round: (isFirst: boolean) => Promise<string>,
  seconds: number,
  context: CommandContext,
): Promise<void> {
  const interrupt = listenForInterrupt(() => context.note('Stopping after this round.'));
  let failures = 0;
  let last = '';
  try {
    for (let isFirst = true; !interrupt.signal.aborted; isFirst = false) {
      const started = Date.now();
      try {
        const status = await round(isFirst);
        failures = 0;
        if (status !== last) context.note(`${new Date().toISOString()} ${status}`);
        last = status;
      } catch (error) {
        failures += 1;
        last = '';
        const reason = error instanceof Error ? error.message : String(error);
        context.note(`${new Date().toISOString()} Failed, ${failures} in a row: ${reason}`);
        if (!(error instanceof CommandError) && !(error instanceof Error)) throw error;
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

/** So that many operators that started together do not ask together. */
const jitter = 0.2;
/** A source that is down for long is still asked every few minutes. */
const longestFactor = 16;
