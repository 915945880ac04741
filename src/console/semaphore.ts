import { createTurns } from '../fair-turns.ts';
import { runInTurn } from '../http/run-in-turn.ts';

/**
 * For expensive reads that anybody on this machine may request without the operator token. Up to `maxWaiting` requests wait, each for at most
 * `waitMs`; others are refused with 503.
 */
export function createSemaphore(limits: { atOnce: number; maxWaiting: number; waitMs: number }) {
  const { atOnce, maxWaiting, waitMs } = limits;
  const turns = createTurns({ size: atOnce, maxWaiting });
  // One owner for all callers: another owner would get additional turns.
  return <T>(work: () => Promise<T>): Promise<T> => runInTurn({ turns, owner: 'everybody', waitMs }, work);
}
