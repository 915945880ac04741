import { createLookupCache, type LookupCache } from '../../registry/lookup-cache.ts';
import type { AcceptancePolicy } from '../../rules/self-hosted/acceptance.ts';
import { limitConnections } from '../../storage/limit-connections.ts';
import type { DiscoveryContext } from '../context.ts';
import type { ApplyingContext } from './apply-content.ts';
import { createFetcher } from './fetch.ts';
import { createHostWork, type HostWork } from './host-work.ts';
import type { HintedIndex } from './read-hint.ts';
import type { Reader } from './reader.ts';
import type { ReadingFault } from './reasons.ts';
import { createRoom, type Room } from './room.ts';
import type { Polling } from './schedule.ts';
import { policyOf, readerOf } from './settings.ts';
import { createSparedHosts, type SparedHosts } from './spared-hosts.ts';
import { lineOf } from './tell.ts';
import { type Aside, asideBytes } from './verify-aside.ts';

/** What the crawler works with. */
export interface CrawlContext extends DiscoveryContext {
  /** What is due, and what came of it. */
  hosts: HostWork;
  reader: Reader;
  /** Other hosts than the one that is worked at. */
  spared: SparedHosts;
  policy: AcceptancePolicy;
  polling: Polling;
  /** What the hints for MASTER catalogs led to lately, by their addresses. */
  hints: LookupCache<HintedIndex | ReadingFault>;
  /** For all files that are in work. */
  room: Room;
}

/** However much there is to crawl, whoever asks the service need not wait for a connection. */
const connectionShare = 0.3;
const hintsKeptMs = 60_000;
const maxHints = 1_000;

/** What content is applied with in the process itself. */
export function applyingOf(context: CrawlContext): ApplyingContext {
  const { config, database, now, reader } = context;
  return {
    ...{ database, now, checker: reader.checker, limits: reader.limits.inherited },
    ...{ maxResources: config.CRAWL_MAX_RESOURCES, maxInherited: asideBytes },
    tell: (about, fault) => lineOf(context, about, fault),
  };
}

export function createCrawlContext(context: DiscoveryContext, aside: Aside): CrawlContext {
  const { config, client, metrics, now, registry, schemas } = context;
  const room = createRoom(config.CRAWL_MEMORY_LIMIT);
  const fetcher = createFetcher({
    ...{ client, metrics, now },
    timeoutMs: config.CRAWL_FETCH_TIMEOUT_MS,
  });
  const database = limitConnections(
    context.database,
    Math.ceil(config.DATABASE_CONNECTIONS * connectionShare),
  );
  return {
    ...{ ...context, database, hosts: createHostWork({ database, now }) },
    reader: { ...readerOf(config, { fetcher, registry, checker: () => schemas.checker() }), aside },
    spared: createSparedHosts(fetcher),
    policy: policyOf(config),
    polling: {
      shortestMs: config.CRAWL_MIN_INTERVAL_SECONDS * 1000,
      longestMs: config.CRAWL_INTERVAL_SECONDS * 1000,
    },
    room,
    hints: createLookupCache({ maxEntries: maxHints, keepMs: () => hintsKeptMs, now }),
  };
}
