import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { cacheNames } from '../../src/search/cache/caches.ts';
import { createSearch } from '../../src/search/port.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { catalog, charger, offer } from '../support/catalogs/sample-catalogs.ts';
import { createTestDatabase } from '../support/database/database.ts';
import { apply, holdAgainstTheBook } from '../support/search/by-the-book.ts';
import { arbitraryNow } from '../support/values/arbitrary-index.ts';

// Rules for every cache of the search: neither its use nor its size changes an answer. With a cache, a repeated question costs no more statements,
// and usually fewer.

const seed = 20_261_116;

describe('every answer is the same', () => {
  it('with any one of the caches alone', async () => {
    const usedCaches = cacheNames.map((name) => [name]);
    await holdAgainstTheBook({ indexes: 2, questions: 12, seed, byChanges: true, usedCaches });
  });

  it('with caches of 0 and of 1 percent of their size', async () => {
    const settings = ['0', '1'].map((percent) => ({ SEARCH_CACHE_PERCENT: percent }));
    await holdAgainstTheBook({ indexes: 4, questions: 12, seed, byChanges: true, settings });
  });
});

it.each([
  ['hardly a statement with all caches', '100', (first: number, again: number) => again < first / 2],
  ['as many as before with none', '0', (first: number, again: number) => again === first],
])('a question that is asked again costs %s', async (_title, percent, isRight) => {
  await withCountedSearch({ SEARCH_CACHE_PERCENT: percent }, async (ask) => {
    // From then on, the index versions are known, with caches and without.
    if (percent === '0') await ask();
    const [first, again] = [await ask(), await ask()];
    expect(isRight(first, again), `${first} and then ${again} statements`).toBe(true);
  });
});

/** `ask` asks the same questions each time, and returns the number of statements. */
async function withCountedSearch(
  settings: Record<string, string>,
  work: (ask: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const home = await createTestDatabase();
  const logger = silentLogger();
  const database = await openDatabase({ url: home.url, logger });
  const threads = createThreadPool({ size: 1, logger });
  let statements = 0;
  const query: Database['query'] = (...asked) => {
    statements += 1;
    return database.query(...asked) as never;
  };
  const counted: Database = Object.create(database, { query: { value: query } });
  const search = createSearch({
    config: readConfig(settings),
    database: counted,
    threads,
    now: () => arbitraryNow,
  });
  const resources = [charger('r1', { price: 2 }), charger('r2', { price: 3 })];
  await apply(database, [
    {
      ...{ owner: 'one.example/reg', networkIds: [], type: 'REGULAR' },
      catalog: catalog('c', { resources, offers: [offer('o', { resourceIds: ['r1'] })] }),
    },
  ]);
  try {
    await work(async () => {
      statements = 0;
      for (const intent of [
        { textSearch: 'charger' },
        { filters: { type: 'jsonpath' as const, expression: '$.catalogs[*].resources[?@.price > 2]' } },
      ])
        await search.search({ message: { intent }, scope: {} });
      return statements;
    });
  } finally {
    await threads.close();
    await database.close();
    await home.drop();
  }
}
