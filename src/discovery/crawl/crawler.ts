import { repeat } from '../../delivery/repeat.ts';
import type { SchemaStore } from '../../schemas/schema-store.ts';
import { startOrClose } from '../../start-or-close.ts';
import { type HostRow, hostTable } from '../../storage/crawl/hosts.ts';
import { pullCrawlForward } from '../../storage/crawl/pull-forward.ts';
import { startWorkLoop } from '../../storage/work/due-work.ts';
import type { DiscoveryContext } from '../context.ts';
import { createApplyAside } from './apply-aside.ts';
import { createApplier } from './apply-entry.ts';
import { createCrawlContext } from './context.ts';
import { crawlHost } from './crawl-host.ts';
import { configureCrawl, startEnumeration } from './enumerate.ts';
import { startRebuilds } from './rebuild-dependents.ts';
import { firstDelayMs, longestPollMs, maxEntryDelayMs, maxHostDelayMs, maxRetryAfterMs } from './schedule.ts';
import { pollingOf } from './settings.ts';
import { countFaultsFromZero } from './tell.ts';
import { createAside } from './verify-aside.ts';

// The crawler: enumerate → (per host) manifest → record → index → entries → files → ingest → cursor. fetch.ts fetches, rules/self-hosted trusts.

/** Most of the time, each waits for an answer. */
const hostsAtOnce = 256;
const pullForwardEveryMs = 5_000;
/** The largest file (CRAWL_INFLATED_LIMIT, 100 MiB) takes about 6 seconds: half a megabyte takes 30 ms (verify-aside.ts). */
const verifyTimeoutMs = 60_000;

export async function startCrawler(discovery: DiscoveryContext, schemas: SchemaStore) {
  const { logger } = discovery;
  const aside = createAside({ logger, deadlineMs: verifyTimeoutMs });
  const context = createCrawlContext(discovery, schemas, aside);
  const applyAside = createApplyAside(context);
  const apply = createApplier(context, applyAside);
  countFaultsFromZero(context.metrics);
  await startOrClose(() => configureCrawl(context), aside.close);
  const waits = {
    ...{ firstDelayMs, maxEntryDelayMs, maxHostDelayMs, maxRetryAfterMs },
    longestPollMs: longestPollMs(pollingOf(context.config)),
  };
  const loops = [
    startEnumeration(context),
    startRebuilds(context, applyAside),
    startWorkLoop<HostRow>({
      // Leases are renewed even if many writes are waiting.
      database: discovery.database,
      table: hostTable,
      columns: ['host', 'failures'],
      concurrency: hostsAtOnce,
      longestWaitMs: Math.max(waits.longestPollMs, maxEntryDelayMs),
      logger: context.logger,
      handle: (claim, signal) => crawlHost(context, apply, claim, signal),
    }),
    repeat({ what: 'pulling crawls forward', everyMs: pullForwardEveryMs, logger }, () =>
      pullCrawlForward(context.database, waits),
    ),
  ];
  return {
    async close() {
      await Promise.all(loops.map((loop) => loop.close()));
      await Promise.all([aside.close(), applyAside.close()]);
    },
  };
}
