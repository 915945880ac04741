import { afterEach, beforeEach } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import type { Intent } from '../../../src/protocol/discover-messages.ts';
import { createSearch } from '../../../src/search/port.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';
import { createTestDatabase } from '../database/database.ts';
import { patienceMs } from '../patience.ts';
import { arbitraryNow } from '../values/arbitrary-index.ts';
import { apply } from './by-the-book.ts';
import type { KnownCatalog } from './discover-oracle.ts';

/** A search service on a new database for each test that follows. `watch` is called with each statement of a search, which waits for the returned promise. */
export interface WatchedSearch {
  database: Database;
  watch: (statement: string) => Promise<void> | void;
  /** Gets the rows of a search's statement and may replace them. */
  answered: (statement: string, rows: object[]) => object[];
  /** Indexes catalogs. */
  apply(catalogs: readonly Catalog[], owner?: string): Promise<void>;
  /** The ids of the resources of a page in order, the total, and the part of the intent that led. */
  find(intent: Intent, limit?: number): Promise<{ ids: string[]; total: number; lead: unknown }>;
}

export function useWatchedSearch(): WatchedSearch {
  const search = {} as WatchedSearch & { close(): Promise<void> };
  beforeEach(async () => Object.assign(search, await open(search)));
  afterEach(() => search.close());
  return search;
}

export function known(catalog: Catalog, owner = 'provider.example/reg'): KnownCatalog {
  return { owner, networkIds: [], type: 'REGULAR', catalog };
}

async function open(search: WatchedSearch): Promise<WatchedSearch & { close(): Promise<void> }> {
  const home = await createTestDatabase();
  const logger = silentLogger();
  const database = await openDatabase({ url: home.url, logger, maxConnections: 4 });
  const threads = createThreadPool({ size: 1, logger });
  const watched: Database = Object.create(database, {
    query: {
      value: async (...asked: Parameters<Database['query']>) => {
        await search.watch(String(asked[0]));
        const answer = await database.query(...asked);
        return { ...answer, rows: search.answered(String(asked[0]), answer.rows) };
      },
    },
  });
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` });
  const service = createSearch({ config, database: watched, threads, now: () => arbitraryNow });
  return {
    database,
    watch: () => undefined,
    answered: (_, rows) => rows,
    apply: (catalogs, owner) =>
      apply(
        database,
        catalogs.map((each) => known(each, owner)),
      ),
    async find(intent, limit = 1_000) {
      const { answer, trace } = await service.search({ message: { intent, limit }, scope: {} });
      const lead = trace.steps.find(({ step }) => step === 'lead')?.by;
      return { ids: answer.ranking.map(({ resourceId }) => resourceId), total: answer.total, lead };
    },
    async close() {
      await threads.close();
      await database.close();
      await home.drop();
    },
  };
}
