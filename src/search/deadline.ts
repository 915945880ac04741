import { hasCode } from '../error-code.ts';
import { DeadlineExceeded, NoTurn } from '../fair-turns.ts';
import { ProtocolError } from '../protocol/errors.ts';
import type { Task } from '../thread-pool.ts';
import type { Search } from './candidates.ts';

/** The time that one evaluation has (DISCOVER_TIMEOUT_MS), and what it went to. */
export interface Deadline {
  timeoutMs: number;
  remainingMs(): number;
  /** How long a turn is waited for: who gets none is told so within the deadline. */
  turnMs(): number;
  /** Throws when there is no time left. */
  check(): void;
  spent: Spent;
}

interface Spent {
  /** For a turn: at the search itself, or at a thread. */
  waitingMs: number;
  /** In threads. */
  filterMs: number;
  spatialMs: number;
}

/** `startedAt` as performance.now() gives it. */
export function createDeadline(timeoutMs: number, startedAt = performance.now()): Deadline {
  const end = startedAt + timeoutMs;
  const remainingMs = () => Math.max(0, Math.ceil(end - performance.now()));
  return {
    timeoutMs,
    remainingMs,
    turnMs: () => Math.max(0, remainingMs() - timeoutMs * hardlyShare),
    check() {
      if (remainingMs() === 0) throw new DeadlineExceeded('the evaluation took too long');
    },
    spent: { waitingMs: 0, filterMs: 0, spatialMs: 0 },
  };
}

/** Evaluates a part of an intent in a thread. Throws SCH_INVALID_JSONPATH for a filter that shows only there to be too costly. */
export async function runInThread<T>(
  { threads, deadline, owner }: Pick<Search, 'threads' | 'deadline' | 'owner'>,
  part: 'filterMs' | 'spatialMs',
  task: Pick<Task, 'module' | 'name' | 'input'>,
): Promise<T> {
  const [waitMs, deadlineMs] = [deadline.turnMs(), deadline.remainingMs()];
  const onEnd = ({ waitedMs, ranMs }: { waitedMs: number; ranMs: number }) => {
    deadline.spent.waitingMs += waitedMs;
    deadline.spent[part] += ranMs;
  };
  try {
    return await threads.run<T>({ ...task, owner, waitMs, deadlineMs, onEnd });
  } catch (error) {
    // The class of an error stays behind in its thread.
    if (!hasCode(error, 'SCH_INVALID_JSONPATH')) throw error;
    throw new ProtocolError('SCH_INVALID_JSONPATH', error.message, { path: filterPath, cause: error });
  }
}

const filterPath = '$.message.intent.filters.expression';

/** Answers an intent that cannot be evaluated in time with what the time went to. */
export async function withinDeadline<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw explainDelay(deadline, error);
  }
}

/** A filter is to blame when a good part of the time went to its evaluation, and hardly any to waiting for others. */
const goodShare = 1 / 4;
const hardlyShare = 1 / 10;
const retryAfterSeconds = 2;

function explainDelay({ timeoutMs, spent }: Deadline, cause: DeadlineExceeded): ProtocolError {
  const hasWaited = cause instanceof NoTurn || spent.waitingMs > timeoutMs * hardlyShare;
  if (hasWaited) {
    return new ProtocolError('NET_OVERLOADED', 'The search did not get its turn in time. Try again later.', {
      retryAfterSeconds,
      cause,
    });
  }
  if (spent.filterMs > timeoutMs * goodShare) {
    const says = 'The filter is too costly: it was not evaluated in time.';
    return new ProtocolError('SCH_INVALID_JSONPATH', says, { path: filterPath, cause });
  }
  if (spent.spatialMs > timeoutMs * goodShare) {
    const path = '$.message.intent.spatial';
    const says = 'The geometry is too costly: it was not evaluated in time.';
    return new ProtocolError('NET_TIMEOUT', says, { path, cause });
  }
  return new ProtocolError('NET_TIMEOUT', 'The search was not finished in time.', { cause });
}
