import { hasCode } from '../error-code.ts';
import { type Turn, TurnLost } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Task, type ThreadPool, wasEnded } from '../thread-pool.ts';
import type { Deadline } from './deadline.ts';

// A search waits for a turn of the threads when it first needs one, and keeps it until its end. So no search waits for a thread with documents in memory. If it loses its turn (fair-turns.ts), it starts again.

export interface Evaluation {
  /** Waits for the turn, unless the search has it. Called before documents for a thread are read. */
  begin(): Promise<unknown>;
  /** Throws NET_TIMEOUT at the deadline or if a thread is out of memory, and SCH_INVALID_JSONPATH for a filter that proves too costly only there. */
  run<T>(part: EvaluatedPart, task: Pick<Task, 'module' | 'name' | 'input'>): Promise<T>;
}

type EvaluatedPart = 'filter' | 'spatial';

/** Does work that may need a thread, and repeats it after a lost turn. `owner`: the identity that asks; undefined: the operator. */
export async function evaluating<T>(
  threads: ThreadPool,
  { deadline, owner, onWait }: { deadline: Deadline; owner?: string; onWait?(): void },
  work: (evaluation: Evaluation) => Promise<T>,
): Promise<T> {
  for (;;) {
    let taking: Promise<Turn> | undefined;
    const begin = () => {
      if (taking) return taking;
      onWait?.();
      taking = deadline.waitForTurn((withinMs) => threads.take(owner, withinMs));
      return taking;
    };
    const run = async <R>(part: EvaluatedPart, task: Pick<Task, 'module' | 'name' | 'input'>): Promise<R> => {
      const turn = await begin();
      deadline.check();
      const deadlineMs = deadline.remainingMs();
      return threads.run<R>({ ...task, turn, deadlineMs }).catch((error) => explain(error, part));
    };
    try {
      return await work({ begin, run });
    } catch (error) {
      if (!(error instanceof TurnLost)) throw error;
      deadline.beginAgain();
    } finally {
      void taking?.then(
        (turn) => turn.end(),
        () => undefined,
      );
    }
  }
}

const paths = { filter: '$.message.intent.filters.expression', spatial: '$.message.intent.spatial' };

function explain(error: unknown, part: EvaluatedPart): never {
  const path = paths[part];
  if (wasEnded(error) || hasCode(error, 'TOO_MANY_MEETINGS')) {
    const says = `The ${part === 'filter' ? 'filter' : 'geometry'} takes too much time or memory to evaluate.`;
    throw new ProtocolError('NET_TIMEOUT', says, { path, cause: error });
  }
  // Errors from threads lose their class.
  if (!hasCode(error, 'SCH_INVALID_JSONPATH')) throw error;
  throw new ProtocolError('SCH_INVALID_JSONPATH', error.message, { path, cause: error });
}
