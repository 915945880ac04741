import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { findObstacle, type RunningOpenSearch, startOpenSearch } from '../../../scripts/opensearch.mjs';
import { silentLogger } from '../../../src/logger.ts';
import { indexFormats } from '../../../src/search/format/index-format.ts';
import { createClient } from '../../../src/search/opensearch/client.ts';
import { type FollowerContext, follow } from '../../../src/search/opensearch/follower.ts';
import { listIndexes, releaseLeases } from '../../../src/search/opensearch/index-rows.ts';
import type { Database } from '../../../src/storage/database.ts';
import { until } from '../time.ts';

const heapMb = 512;

/** Why the tests with OpenSearch are skipped here, for their names; undefined where they run. OPENSEARCH_URL names one that is running. */
export const obstacle = process.env.OPENSEARCH_URL ? undefined : findObstacle();

/** For the names of suites. */
export const needs = obstacle ? ` (${obstacle})` : '';

/** A running OpenSearch for the tests that follow, handed over before the first of them. */
export function useOpenSearch(take: (url: string) => void): void {
  let running: RunningOpenSearch | undefined;
  beforeAll(async () => {
    if (obstacle) return;
    running = process.env.OPENSEARCH_URL ? undefined : await startOpenSearch({ heapMb, brief: true });
    take(process.env.OPENSEARCH_URL ?? running?.url ?? '');
  });
  afterAll(() => running?.close());
}

/** Has OpenSearch catch up with all that is committed. */
export async function catchUp(database: Database, url: string): Promise<void> {
  const client = createClient([url]);
  const token = randomUUID();
  try {
    await followToEnd({ database, client, logger: silentLogger(), formats: indexFormats }, token);
  } finally {
    await releaseLeases(database, token);
    await client.close();
  }
}

/**
 * Follows until one index has all that is committed. One call may not be enough: an index is begun only when all transactions have ended that began before it, those of other databases of the
 * server included, which other tests use.
 */
export async function followToEnd(context: FollowerContext, token: string): Promise<void> {
  await until(async () => {
    await follow(context, token);
    const indexes = await listIndexes(context.database);
    return indexes.length > 0 && indexes.every(({ isCurrent, hasNews }) => isCurrent && !hasNews);
  }, 'OpenSearch to catch up');
}

/** The settings of a process that asks it. */
export function openSearchSettings(url: string, names = 'opensearch'): Record<string, string> {
  return { SEARCH_INDEX: names, OPENSEARCH_URL: url };
}
