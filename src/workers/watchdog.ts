/** No work of a worker blocks its main thread for this long. */
const defaults = { everyMs: 5_000, maxUnanswered: 4 };

export type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * A watchdog for a worker that hangs: its process is there, but does nothing any more. It counts pings without an answer, and not the time that has passed: after the whole machine stood still, the worker
 * is asked again before it is given up.
 */
export function startWatchdog(
  { ping, giveUp }: { ping(): void; giveUp(silentMs: number): void },
  { everyMs, maxUnanswered } = defaults,
) {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === maxUnanswered) {
      clearInterval(timer);
      return giveUp(maxUnanswered * everyMs);
    }
    unanswered += 1;
    ping();
  }, everyMs);
  return {
    answered() {
      unanswered = 0;
    },
    close: () => clearInterval(timer),
  };
}
