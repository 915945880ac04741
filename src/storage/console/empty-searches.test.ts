import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { createQueryable } from '../statement.ts';
import { createEmptySearches, listEmptySearches } from './empty-searches.ts';

describe('searches that found nothing', () => {
  let database: Database;
  useDatabase(
    (opened) => {
      database = opened;
    },
    { emptied: 'console.empty_search' },
  );
  const gone = createQueryable(() => Promise.reject(new Error('the database is gone')));
  const noteText = (searches: ReturnType<typeof createEmptySearches>, textSearch: string) =>
    searches.note({ intent: { textSearch }, nearMisses: [] });

  it('are kept until they are written, and counted with those that came meanwhile', async () => {
    const searches = createEmptySearches();
    noteText(searches, 'tea');
    noteText(searches, 'tea');
    const failing = searches.flush(gone, new Date());
    noteText(searches, 'tea');
    noteText(searches, 'milk');
    await expect(failing).rejects.toThrow('the database is gone');
    await searches.flush(database, new Date());
    // Written searches are not written again.
    await searches.flush(gone, new Date());
    const found = await listEmptySearches(database, { limit: 10 });
    expect(found.map(({ intent, times }) => [JSON.parse(intent).textSearch, times]).sort()).toEqual([
      ['milk', 1],
      ['tea', 3],
    ]);
  });
});
