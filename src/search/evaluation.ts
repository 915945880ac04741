import { hasCode } from '../error-code.ts';
import { type Turn, TurnLost } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';
import { type Task, type ThreadPool, wasEnded } from '../thread-pool.ts';
import type { Deadline } from './deadline.ts';

// A search takes a turn of the threads when it first needs one, and keeps it until its end: so nobody waits for a thread with documents in memory. If the turn is taken away (fair-turns.ts), the search begins again.

export interface Evaluation {
  /** Waits for the turn, unless the search has it: before documents are read that a thread evaluates. */
  begin(): Promise<unknown>;
  /** Throws NET_TIMEOUT at the deadline or where a thread has no memory left, and SCH_INVALID_JSONPATH for a filter that shows only there to be too costly. */
  run<T>(part: EvaluatedPart, task: Pick<Task, 'module' | 'name' | 'input'>): Promise<T>;
}

type EvaluatedPart = 'filter' | 'spatial';

/** Does work that may need a thread, again where its turn was taken away. `owner`: the identity that asks; none: the operator. `onWait` is called when a turn is waited for. */
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
  // The class of an error stays behind in its thread.
  if (!hasCode(error, 'SCH_INVALID_JSONPATH')) throw error;
  throw new ProtocolError('SCH_INVALID_JSONPATH', error.message, { path, cause: error });
}
