import { createTurns } from '../fair-turns.ts';
import { runInTurn } from '../http/run-in-turn.ts';

interface SemaphoreOptions {
  atOnce: number;
  /** Maximum of waiting requests, each for at most `waitMs`; all others are refused with 503. */
  maxWaiting: number;
  waitMs: number;
}

/** For costly reads, which anybody on this machine may ask for without the operator token. */
export function createSemaphore({ atOnce, maxWaiting, waitMs }: SemaphoreOptions) {
  const turns = createTurns({ size: atOnce, maxWaiting });
  // One owner for all callers: turns of a further owner would come on top of the size.
  return <T>(work: () => Promise<T>): Promise<T> => runInTurn({ turns, owner: 'everybody', waitMs }, work);
}
