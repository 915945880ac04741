import { createTurns } from '../fair-turns.ts';
import { runInTurn } from '../http/run-in-turn.ts';

export interface SemaphoreOptions {
  /** Pieces of work at a time. */
  atOnce: number;
  /** So many more wait, for at most so long; whatever comes then is refused with 503. */
  maxWaiting: number;
  waitMs: number;
}

export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** For costly reads, which anybody on this machine may ask for without the operator token. */
export function createSemaphore({ atOnce, maxWaiting, waitMs }: SemaphoreOptions): Semaphore {
  const turns = createTurns({ size: atOnce, maxWaiting });
  // One owner for all callers: turns of a further owner would come on top of the size.
  return (work) => runInTurn({ turns, owner: 'everybody', waitMs }, work);
}
