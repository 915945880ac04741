// When something is looked at again. Pure: the time and the randomness are arguments.

export const minPollMs = 30_000;
const maxNodeCheckMs = 24 * 3_600_000;
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

/** The next poll of an index: at its next_update, but neither all the time nor less often than the interval says. */
export function nextPoll(nextUpdate: Date, intervalMs: number, { now, random }: Moment): Date {
  const untilUpdate = nextUpdate.getTime() - now.getTime();
  const delay = Math.max(minPollMs, Math.min(untilUpdate, intervalMs));
  return after(now, delay * (1 + jitter * random));
}

/** Manifest and record are read again at their own next_update. */
export function nextNodeCheck(
  nextUpdate: Date | undefined,
  intervalMs: number,
  { now, random }: Moment,
): Date {
  const untilUpdate = nextUpdate ? nextUpdate.getTime() - now.getTime() : intervalMs;
  const delay = Math.max(minPollMs, Math.min(untilUpdate <= 0 ? intervalMs : untilUpdate, maxNodeCheckMs));
  return after(now, delay * (1 + jitter * random));
}

/** The next look at a participant that hosts nothing. */
export function nextNodeLook({ now, random }: Moment): Date {
  return after(now, maxNodeCheckMs * (1 + jitter * random));
}

/** The next attempt at a node that could not be read: at once only where the trouble may well pass. */
export function nextNodeAttempt(failures: number, passes: boolean, { now, random }: Moment): Date {
  const firstMs = passes ? firstDelayMs : minPollMs;
  return after(now, backoffMs(failures, maxEntryDelayMs, random, firstMs));
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
