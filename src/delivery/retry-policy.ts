// When a delivery is tried again, and what an answer means. Pure: the time and the randomness are arguments.

export const maxRetryDelayMs = 5 * 60_000;
/** A receiver's Retry-After is respected up to this. */
export const maxRetryAfterMs = 60 * 60_000;
export const longestRetryWaitMs = Math.max(maxRetryDelayMs, maxRetryAfterMs);

export interface RetryPolicy {
  /** Delay before the first repeat; it doubles from there up to `maxRetryDelayMs`. */
  baseMs: number;
}

export interface ReceivedAnswer {
  status: number;
  /** `message.status` of the body, when there is one. */
  acknowledgement?: string;
  error?: string;
  /** The code of that error, and where it says that the fault is. */
  code?: string;
  path?: string;
  retryAfterMs?: number;
}

export type Outcome =
  | { kind: 'delivered'; status: number }
  | Refused
  | { kind: 'retry'; status?: number; reason: string; retryAfterMs?: number };

export interface Refused {
  kind: 'refused';
  status: number;
  reason: string;
  /** It is refused for its schema: another body may be accepted. `path` names the culprit. */
  schema?: { path?: string };
}

/** Any 2xx is delivered, unless its body says NACK. That and 400 are a refusal: the same bytes would be refused again. Everything else, such as 401 for a key that is not registered yet, is tried again. */
export function judgeAnswer(answer: ReceivedAnswer): Outcome {
  const { status, acknowledgement, error, code, path, retryAfterMs } = answer;
  const reason = `the receiver answered ${status}${error ? `: ${error}` : ''}`;
  const accepted = status >= 200 && status < 300;
  if (accepted && acknowledgement !== 'NACK') return { kind: 'delivered', status };
  if (accepted || status === 400)
    return { kind: 'refused', status, reason, ...(code?.startsWith('SCH_') && { schema: { path } }) };
  return { kind: 'retry', status, reason, retryAfterMs };
}

/** The wait before the next attempt; undefined when less time is left. Exponential with jitter in its upper half, so that many deliveries to one receiver do not return together. */
export function nextAttemptMs(
  policy: RetryPolicy,
  failure: { attempts: number; leftMs: number; retryAfterMs?: number; random: number },
): number | undefined {
  const { attempts, leftMs, retryAfterMs = 0, random } = failure;
  const ceiling = Math.min(policy.baseMs * 2 ** Math.min(attempts - 1, 30), maxRetryDelayMs);
  const backoff = ceiling / 2 + (random * ceiling) / 2;
  const waitMs = Math.max(backoff, Math.min(retryAfterMs, maxRetryAfterMs));
  return waitMs <= leftMs ? waitMs : undefined;
}

/** The value of a Retry-After header (seconds or an HTTP date) as milliseconds from now. */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
