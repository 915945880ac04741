import { afterAll, beforeAll, beforeEach } from 'vitest';
import { silentLogger } from '../../../src/logger.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { type SearchingProcess, withCaches } from '../search/index-reader.ts';

/** A process that answers searches, watched by a test. */
export interface WatchedReader {
  /** The number of statements that it has sent. */
  statements: number;
  /** Called while a statement waits for its answer. */
  meanwhile(): Promise<void>;
}

/**
 * Two processes on one database for the tests that follow, passed before the first of them: one writes, the other caches what it has read of the
 * index. Empties the `emptied` tables before each test.
 */
export function useProcesses(
  take: (writer: Database, reader: SearchingProcess) => void,
  { emptied }: { emptied: string },
): WatchedReader {
  const watched: WatchedReader = { statements: 0, meanwhile: async () => {} };
  let home: TestDatabase;
  let writer: Database;
  let reader: SearchingProcess;
  beforeAll(async () => {
    home = await createTestDatabase();
    const open = () => openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
    writer = await open();
    const opened = await open();
    const query: Database['query'] = async (...asked) => {
      watched.statements++;
      const answer = await opened.query(...asked);
      await watched.meanwhile();
      return answer as never;
    };
    reader = withCaches(Object.create(opened, { query: { value: query } }));
    take(writer, reader);
  });
  beforeEach(() => writer.query(`truncate ${emptied} cascade`));
  afterAll(async () => {
    await Promise.all([writer.close(), reader.close()]);
    await home.drop();
  });
  return watched;
}
