import type { Config } from '../../config.ts';
import type { Database } from '../../storage/database.ts';
import type { IndexFormat } from '../entries/index-format.ts';
import type { Hit } from '../hit.ts';
import type { Plan } from '../plan.ts';
import type { Tools } from '../tools.ts';
import { connectOpenSearch } from './client.ts';
import { createFeed } from './feed.ts';
import { findIndexedHits } from './find.ts';
import { createWordReader } from './word-index.ts';

// The index in OpenSearch, as the rest of the search engine sees it (ADR 22).

export interface IndexedSearch {
  /** Hits in the order of the answer, part by part, and how many more there are. */
  findHits(tools: Tools, plan: Plan): AsyncIterable<Hit[] | number>;
  feed: ReturnType<typeof createFeed>;
  close(): Promise<void>;
}

/** Undefined: the index is in the database. */
export function openIndexedSearch(
  { config, database, now }: { config: Config; database: Database; now: () => Date },
  format: IndexFormat,
): IndexedSearch | undefined {
  if (config.SEARCH_INDEX !== 'opensearch') return undefined;
  const client = connectOpenSearch(config);
  const readQuery = createWordReader(client);
  return {
    findHits: (tools, plan) => findIndexedHits({ client, readQuery }, tools, plan),
    feed: createFeed({ database, client, format, now }),
    close: () => client.close(),
  };
}
