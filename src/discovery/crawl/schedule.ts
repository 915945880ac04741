// When something is looked at again. Pure: the time and the randomness are arguments.

/** Between two looks at a node because something of it did not verify. */
export const recheckSpacingMs = 30_000;
const firstDelayMs = 1_000;
const maxEntryDelayMs = 6 * 3_600_000;
const maxHostDelayMs = 5 * 60_000;
/** How much later than reckoned, so that what began together does not stay together. */
const jitter = 0.1;

export interface Moment {
  now: Date;
  /** From 0 to 1. */
  random: number;
}

/** How often what is well is polled. */
export interface Polling {
  /** CRAWL_MIN_INTERVAL_SECONDS and CRAWL_INTERVAL_SECONDS. */
  shortestMs: number;
  longestMs: number;
}

/**
 * The next poll of an index, of a manifest with its record, or of a node that hosts nothing yet: at the next_update that is announced, if any, but
 * neither all the time nor less often than the interval says.
 */
export function nextPoll(
  nextUpdate: Date | undefined,
  { shortestMs, longestMs }: Polling,
  { now, random }: Moment,
): Date {
  const untilUpdate = nextUpdate ? nextUpdate.getTime() - now.getTime() : longestMs;
  const delay = Math.max(shortestMs, Math.min(untilUpdate, longestMs));
  return after(now, delay * (1 + jitter * random));
}

/**
 * The next attempt at a node that could not be read: soon, because its files may just be on their way, at once where the trouble may well pass, and
 * never later than it would be polled.
 */
export function nextNodeAttempt(failures: number, passes: boolean, polling: Polling, moment: Moment): Date {
  const { now, random } = moment;
  const firstMs = passes ? firstDelayMs : polling.shortestMs;
  const attempt = after(now, backoffMs(failures, maxEntryDelayMs, random, firstMs));
  const poll = nextPoll(undefined, polling, moment);
  return new Date(Math.min(attempt.getTime(), poll.getTime()));
}

/** The next attempt at something that failed a number of times. */
export function nextAttempt(failures: number, { now, random }: Moment, retryAfterMs = 0): Date {
  return after(
    now,
    Math.max(backoffMs(failures, maxEntryDelayMs, random), Math.min(retryAfterMs, maxEntryDelayMs)),
  );
}

/** Until when a host is left in peace that could not be reached. */
export function restUntil(failures: number, { now, random }: Moment, retryAfterMs = 0): Date {
  return after(
    now,
    Math.max(backoffMs(failures, maxHostDelayMs, random), Math.min(retryAfterMs, maxHostDelayMs)),
  );
}

/** Exponential, in the upper half at random. */
function backoffMs(failures: number, maxMs: number, random: number, firstMs = firstDelayMs): number {
  const ceiling = Math.min(firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30), maxMs);
  return ceiling * (0.5 + random / 2);
}

function after(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
