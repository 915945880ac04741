import { type Fetcher, hostOf } from './fetch.ts';
import { CrawlFault } from './reasons.ts';
import { restMs } from './schedule.ts';

// A node may have its files at other hosts than its own, and name any. One of these that is in trouble is left in peace for a while, whoever
// names it; it says nothing about the host of the node, which other nodes may share.

export interface SparedHosts {
  /** For the work at one host, which rests as a whole when it is in trouble itself. */
  forWorkAt(host: string): Fetcher;
}

const maxResting = 1_000;

/** @param nowMs of a clock that does not jump */
export function createSparedHosts(fetcher: Fetcher, nowMs = () => performance.now()): SparedHosts {
  const resting = new Map<string, { failures: number; untilMs: number; fault: CrawlFault }>();

  function rest(host: string, fault: CrawlFault): void {
    const failures = (resting.get(host)?.failures ?? 0) + 1;
    const untilMs = nowMs() + restMs(failures, Math.random(), fault.retryAfterMs);
    resting.delete(host);
    resting.set(host, { failures, untilMs, fault });
    const [oldest] = resting.keys();
    if (resting.size > maxResting && oldest !== undefined) resting.delete(oldest);
  }

  return {
    forWorkAt: (own) => ({
      async fetch(url, options) {
        const host = hostOf(url);
        if (host === own) return fetcher.fetch(url, options);
        const known = resting.get(host);
        const waitMs = known ? known.untilMs - nowMs() : 0;
        if (known && waitMs > 0) throw stillResting(url, known.fault, waitMs);
        try {
          const fetched = await fetcher.fetch(url, options);
          resting.delete(host);
          return fetched;
        } catch (error) {
          if (error instanceof CrawlFault && error.hostFailed) rest(host, error);
          throw error;
        }
      },
    }),
  };
}

function stillResting(url: string, { code, message, cause }: CrawlFault, retryAfterMs: number): CrawlFault {
  return new CrawlFault(code, message, { url, hostFailed: true, retryAfterMs, cause });
}
