import { LruCache } from '../../lru-cache.ts';
import { type Fetcher, hostOf } from './fetch.ts';
import { CrawlFault } from './reasons.ts';
import { restMs } from './schedule.ts';

// Files may be at other hosts than their node. Such a host pauses after a failure, which says nothing about the host of the node.

/** The fetcher for the work at one host. If that host fails, it pauses as a whole. */
export type SparedHosts = (host: string) => Fetcher;

const maxResting = 1_000;

/** @param nowMs of a monotonic clock */
export function createSparedHosts(fetcher: Fetcher, nowMs = () => performance.now()): SparedHosts {
  const resting = new LruCache<string, { failures: number; untilMs: number; fault: CrawlFault }>(maxResting);

  function rest(host: string, fault: CrawlFault): void {
    const failures = (resting.find(host)?.failures ?? 0) + 1;
    const untilMs = nowMs() + restMs(failures, Math.random(), fault.retryAfterMs);
    resting.keep(host, { failures, untilMs, fault });
  }

  return (own) => ({
    async fetch(url, options) {
      const host = hostOf(url);
      if (host === own) return fetcher.fetch(url, options);
      const known = resting.find(host);
      const retryAfterMs = known ? known.untilMs - nowMs() : 0;
      if (known && retryAfterMs > 0) {
        const { code, message, cause } = known.fault;
        throw new CrawlFault(code, message, { url, hostFailed: true, retryAfterMs, cause });
      }
      try {
        const fetched = await fetcher.fetch(url, options);
        resting.forget(host);
        return fetched;
      } catch (error) {
        if (error instanceof CrawlFault && error.hostFailed) rest(host, error);
        throw error;
      }
    },
  });
}
