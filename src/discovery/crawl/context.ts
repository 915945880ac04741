import type { Config } from '../../config.ts';
import { createLookupCache, type LookupCache } from '../../registry/lookup-cache.ts';
import type { AcceptancePolicy } from '../../rules/self-hosted/acceptance.ts';
import { limitConnections } from '../../storage/limit-connections.ts';
import type { DiscoveryContext } from '../context.ts';
import { createFetcher } from './fetch.ts';
import { createHostWork, type HostWork } from './host-work.ts';
import type { HintedIndex } from './read-hint.ts';
import type { Reader } from './reader.ts';
import type { ReadingFault } from './reasons.ts';
import { createRoom, type Room } from './room.ts';
import type { Polling } from './schedule.ts';
import { createSparedHosts, type SparedHosts } from './spared-hosts.ts';
import type { Aside } from './verify-aside.ts';

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

/** What is taken, by the settings. */
export function policyOf(config: Config): AcceptancePolicy {
  return {
    networkIds: config.DISCOVERY_NETWORKS,
    masterPublishers: config.MASTER_PUBLISHERS,
    enforceMembership: config.NETWORK_MEMBERSHIP === 'enforce',
    registryName: config.REGISTRY_NAME,
  };
}

/** A reader with the limits of the settings. */
export function readerOf(config: Config, parts: Pick<Reader, 'fetcher' | 'registry' | 'checker'>): Reader {
  return {
    ...parts,
    registryName: config.REGISTRY_NAME,
    requireManifest: config.REQUIRE_MANIFEST,
    allowUnsignedIndex: config.ALLOW_UNSIGNED_INDEX,
    cutoverFraction: config.CUTOVER_FRACTION,
    limits: {
      maxFileBytes: config.CRAWL_FILE_LIMIT,
      maxIndexBytes: config.CRAWL_INDEX_LIMIT,
      maxInflatedBytes: config.CRAWL_INFLATED_LIMIT,
      maxIndexes: config.CRAWL_MAX_INDEXES,
      maxEntries: config.CRAWL_MAX_ENTRIES,
      maxChanges: config.CRAWL_MAX_CHANGES,
      maxMasters: config.CRAWL_MAX_MASTERS,
    },
  };
}
