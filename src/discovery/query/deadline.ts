import { ProtocolError } from '../../protocol/errors.ts';
import { DeadlineExceeded } from '../../thread-pool.ts';

/** The time that one evaluation has (DISCOVER_TIMEOUT_MS). */
export interface Deadline {
  remainingMs(): number;
  /** Throws when there is no time left. */
  check(): void;
}

export function createDeadline(timeoutMs: number): Deadline {
  const end = performance.now() + timeoutMs;
  const remainingMs = () => Math.max(0, Math.ceil(end - performance.now()));
  return {
    remainingMs,
    check() {
      if (remainingMs() === 0) throw new DeadlineExceeded('the evaluation took too long');
    },
  };
}

/** An intent that cannot be evaluated in time is answered with the part that it is too costly for. */
export async function withinDeadline<T>(
  part: { filters: boolean; spatial: boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw tooCostly(part, error);
  }
}

/** A too costly filter expression is as bad as an invalid one; there is no code for a geometry that is. */
function tooCostly(
  { filters, spatial }: { filters: boolean; spatial: boolean },
  cause: Error,
): ProtocolError {
  if (filters) {
    return new ProtocolError(
      'SCH_INVALID_JSONPATH',
      'The filter is too costly: it was not evaluated in time.',
      {
        path: '$.message.intent.filters.expression',
        cause,
      },
    );
  }
  if (spatial) {
    return new ProtocolError(
      'SCH_SCHEMA_VALIDATION_FAILED',
      'The geometry is too costly: it was not evaluated in time.',
      { path: '$.message.intent.spatial', cause },
    );
  }
  return new ProtocolError('NET_TIMEOUT', 'The search was not finished in time.', { cause });
}
