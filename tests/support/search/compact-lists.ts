import { beginning, compactFrom } from '../../../src/search/lists/compact.ts';
import type { RunKey } from '../../../src/search/lists/runs.ts';
import type { Database } from '../../../src/storage/database.ts';

/** Merges small runs of all lists like the compactor; returns by how many the runs were reduced. */
export async function compactLists(database: Database): Promise<number> {
  let saved = 0;
  for (let from: RunKey | undefined = beginning; from; ) {
    const step = await compactFrom(database, 'index_1', from);
    saved += step.merged - step.written;
    from = step.rest;
  }
  return saved;
}
