import { createCaches, type IndexReader } from '../../../src/search/cache/caches.ts';
import type { Database } from '../../../src/storage/database.ts';

/** A process that searches: a database, and caches of the index. */
export type SearchingProcess = Database & IndexReader;

export function withCaches(database: Database, caches = createCaches()): SearchingProcess {
  caches.inUse = { index: 'index_1', version: 1 };
  return Object.create(database, { caches: { value: caches }, index: { value: 'index_1' } });
}
