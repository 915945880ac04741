/** No work blocks a worker's main thread for this long. */
const defaults = { everyMs: 5_000, maxUnanswered: 4 };

export type Watchdog = ReturnType<typeof startWatchdog>;

/**
 * A watchdog for hanging workers, whose process exists but does nothing. It counts unanswered pings instead of time: after the whole machine
 * stood still, a worker gets another ping before it is killed.
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
