// Delays until the next visit, in milliseconds. Pure: the time and the randomness are arguments.

/** Minimum time between two checks of a node after failed verifications. */
export const recheckSpacingMs = 30_000;
export const firstDelayMs = 1_000;
export const maxEntryDelayMs = 6 * 3_600_000;
export const maxHostDelayMs = 5 * 60_000;
/** Maximum of a host's Retry-After. */
export const maxRetryAfterMs = 3_600_000;
/** Additional random delay, so that work that started together spreads out. */
const jitter = 0.1;

export interface Polling {
  /** CRAWL_MIN_INTERVAL_SECONDS and CRAWL_INTERVAL_SECONDS. */
  shortestMs: number;
  longestMs: number;
}

/** The next poll of something healthy: at the announced next_update, but within the shortest and the longest interval. */
export function nextPollMs(
  nextUpdate: Date | undefined,
  { shortestMs, longestMs }: Polling,
  { now, random }: { now: Date; random: number },
): number {
  const untilUpdate = nextUpdate ? nextUpdate.getTime() - now.getTime() : longestMs;
  const delay = Math.max(shortestMs, Math.min(untilUpdate, longestMs));
  return delay * (1 + jitter * random);
}

/** Polls are never further ahead. */
export function longestPollMs({ shortestMs, longestMs }: Polling): number {
  return Math.max(shortestMs, longestMs) * (1 + jitter);
}

/** The next attempt at an unreadable node: soon, because its files may be on their way, and never later than a poll. */
export function nextNodeAttemptMs(failures: number, passes: boolean, polling: Polling, random: number) {
  const firstMs = passes ? firstDelayMs : polling.shortestMs;
  const poll = polling.longestMs * (1 + jitter * random);
  return Math.min(backoffMs(failures, maxEntryDelayMs, random, firstMs), poll);
}

export function nextAttemptMs(failures: number, random: number, retryAfterMs = 0): number {
  return Math.max(backoffMs(failures, maxEntryDelayMs, random), Math.min(retryAfterMs, maxRetryAfterMs));
}

/** The pause for an unreachable host. */
export function restMs(failures: number, random: number, retryAfterMs = 0): number {
  return Math.max(backoffMs(failures, maxHostDelayMs, random), Math.min(retryAfterMs, maxHostDelayMs));
}

/** Exponential, and random within the upper half. */
function backoffMs(failures: number, maxMs: number, random: number, firstMs = firstDelayMs): number {
  const ceiling = Math.min(firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30), maxMs);
  return ceiling * (0.5 + random / 2);
}
