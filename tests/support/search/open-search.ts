import { randomUUID } from 'node:crypto';
import {
  findObstacle,
  type RunningOpenSearch,
  type Security,
  startOpenSearch,
} from '../../../scripts/opensearch.mjs';
import { readConfig } from '../../../src/config.ts';
import { type Logger, silentLogger } from '../../../src/logger.ts';
import { createSearch, maintainIndex, type SearchService } from '../../../src/search/port.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';
import { createTestDatabase } from '../database/database.ts';
import { patienceMs } from '../patience.ts';
import { until } from '../time.ts';
import { arbitraryNow } from '../values/arbitrary-index.ts';

// OpenSearch for tests (scripts/opensearch.mjs). OPENSEARCH_TEST_URL names one that is already running.

export type Cluster = Pick<RunningOpenSearch, 'urls' | 'nodes' | 'close'>;

const running = process.env.OPENSEARCH_TEST_URL;

/** Why it cannot start here; undefined if it can. */
export const obstacle = running ? undefined : findObstacle();

export async function startCluster({ nodes = 1, security }: ClusterOptions = {}): Promise<Cluster> {
  if (running && nodes === 1 && !security)
    return { urls: [running], nodes: [], close: async () => undefined };
  return startOpenSearch({ nodes, heapMb: 512, brief: true, security });
}

interface ClusterOptions {
  nodes?: number;
  security?: Security;
}

/** Settings of a service with a separate index there. */
export function openSearchSettings(urls: readonly string[]): Record<string, string> {
  return {
    SEARCH_INDEX: 'opensearch',
    OPENSEARCH_URL: urls.join(),
    OPENSEARCH_PREFIX: `test-${randomUUID()}`,
  };
}

/** Feeds OpenSearch until closed. */
export async function feedSearch(service: SearchService, logger: Logger = silentLogger()) {
  const feeding = await service.start({ logger });
  return {
    /** Resolves when searches see everything that was committed before the call. */
    catchUp: () => until(async () => (await service.lag()) === 0, 'OpenSearch to catch up'),
    close: () => feeding.close(),
  };
}

/** A search service with its index in OpenSearch, on a new database. */
export async function startFedSearch(settings: Record<string, string>, now = () => arbitraryNow) {
  const home = await createTestDatabase();
  const logger = silentLogger();
  const database = await openDatabase({ url: home.url, logger, maxConnections: 6 });
  const threads = createThreadPool({ size: 1, logger });
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}`, ...settings });
  const service = createSearch({ config, database, threads, now });
  const index = maintainIndex(database, undefined, config);
  return {
    ...{ config, database, threads, service, index },
    async close() {
      await service.close();
      await index.close();
      await threads.close();
      await database.close();
      await home.drop();
    },
  };
}
