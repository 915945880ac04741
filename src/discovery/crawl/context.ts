import { createLookupCache, type LookupCache } from '../../registry/lookup-cache.ts';
import type { AcceptancePolicy } from '../../rules/self-hosted/acceptance.ts';
import type { SchemaStore } from '../../schemas/schema-store.ts';
import { limitConnections } from '../../storage/limit-connections.ts';
import type { DiscoveryContext } from '../context.ts';
import { createFetcher } from './fetch.ts';
import { createHostWork, type HostWork } from './host-work.ts';
import type { HintedIndex } from './read-index.ts';
import type { Reader } from './reader.ts';
import type { ReadingFault } from './reasons.ts';
import { createRoom, type Room } from './room.ts';
import { policyOf, readerOf } from './settings.ts';
import { createSparedHosts, type SparedHosts } from './spared-hosts.ts';
import type { Aside } from './verify-aside.ts';

export interface CrawlContext
  extends Pick<DiscoveryContext, 'config' | 'database' | 'registry' | 'metrics' | 'logger' | 'now'> {
  hosts: {
    work: HostWork;
    /** Hosts other than the current one. */
    spared: SparedHosts;
    room: Room;
  };
  reader: Reader;
  policy: AcceptancePolicy;
  /** Recent results of hints for MASTER catalogs, by address. */
  hints: LookupCache<HintedIndex | ReadingFault>;
}

/** Keeps connections free for requests to the service, however much there is to crawl. */
const connectionShare = 0.3;
const hintsKeptMs = 60_000;
const maxHints = 1_000;

export function createCrawlContext(
  context: DiscoveryContext,
  schemas: SchemaStore,
  aside: Aside,
): CrawlContext {
  const { config, client, metrics, now, registry } = context;
  const fetcher = createFetcher({ ...{ client, metrics, now }, timeoutMs: config.CRAWL_FETCH_TIMEOUT_MS });
  const connections = Math.ceil(config.DATABASE_CONNECTIONS * connectionShare);
  const database = limitConnections(context.database, connections);
  return {
    ...{ config, database, registry, metrics, logger: context.logger, now },
    hosts: {
      work: createHostWork({ database, now }),
      spared: createSparedHosts(fetcher),
      room: createRoom(config.CRAWL_MEMORY_LIMIT),
    },
    reader: { ...readerOf(config, { fetcher, registry, checker: () => schemas.checker() }), aside },
    policy: policyOf(config),
    hints: createLookupCache({ maxEntries: maxHints, keepMs: () => hintsKeptMs, now }),
  };
}
