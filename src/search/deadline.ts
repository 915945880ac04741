import { DeadlineExceeded, NoTurn } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';

export type Deadline = ReturnType<typeof createDeadline>;

/** The time limit of one evaluation (DISCOVER_TIMEOUT_MS). Waits for turns do not count, but have the same limit. `startedAt`: performance.now(). */
export function createDeadline(timeoutMs: number, startedAt = performance.now()) {
  let waitedMs = 0;
  const remainingMs = () => Math.max(0, Math.ceil(startedAt + waitedMs + timeoutMs - performance.now()));
  return {
    remainingMs,
    /** Throws if no time is left. */
    check(): void {
      if (remainingMs() === 0) throw new DeadlineExceeded('the evaluation took too long');
    },
    async waitForTurn<T>(take: (withinMs: number) => Promise<T>): Promise<T> {
      const askedAt = performance.now();
      try {
        return await take(Math.max(0, timeoutMs - waitedMs));
      } finally {
        waitedMs += performance.now() - askedAt;
      }
    },
    /** All work so far must be repeated, and counts as waiting. Throws NoTurn if no time is left to wait. */
    beginAgain(): void {
      waitedMs = performance.now() - startedAt;
      if (waitedMs > timeoutMs) throw new NoTurn(`the turn was taken away, after ${timeoutMs} ms`);
    },
  };
}

const retryAfterSeconds = 2;

/** Turns an exceeded deadline into a ProtocolError. */
export async function withinDeadline<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    if (!(error instanceof NoTurn))
      throw new ProtocolError('NET_TIMEOUT', 'The search was not finished in time.', { cause: error });
    const says = 'The search did not get its turn in time. Try again later.';
    throw new ProtocolError('NET_OVERLOADED', says, { retryAfterSeconds, cause: error });
  }
}
