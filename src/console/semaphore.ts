import { createTurns } from '../fair-turns.ts';
import { runInTurn } from '../http/run-in-turn.ts';

interface SemaphoreOptions {
  atOnce: number;
  /** Maximum of waiting requests, each for at most `waitMs`; others are refused with 503. */
  maxWaiting: number;
  waitMs: number;
}

/** For expensive reads that anybody on this machine may request without the operator token. */
export function createSemaphore({ atOnce, maxWaiting, waitMs }: SemaphoreOptions) {
  const turns = createTurns({ size: atOnce, maxWaiting });
  // One owner for all callers: another owner would get additional turns.
  return <T>(work: () => Promise<T>): Promise<T> => runInTurn({ turns, owner: 'everybody', waitMs }, work);
}
