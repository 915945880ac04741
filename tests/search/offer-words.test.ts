import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { writeIndex } from '../../src/search/write/write-index.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Run } from '../../src/storage/statement.ts';
import { catalog, offer, plain } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { countSearches } from '../support/search/counted-searches.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

/** Each catalog has 200 resources, 100 offers on two of them each, and one on a resource of the previous catalog, which has no effect there. */
const catalogs = 104;

it('a word in very many offers has no more of them looked up than it takes to rank the first page exactly', async () => {
  for (let number = 0; number < catalogs; number++)
    await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([shop(number)])));
  let lookedUp = 0;
  const watched: Database = Object.create(database, {
    query: {
      value: (...asked: Parameters<Run>) => {
        if (asked[0].includes('as wanted (key) join discovery.offer')) lookedUp += countKeys(asked[1]?.[0]);
        return database.query(...asked);
      },
    },
  });
  const searches = countSearches(watched, readConfig({ DISCOVER_TIMEOUT_MS: '60000' }));
  try {
    const { found } = await searches.find([{ intent: { textSearch: 'night' }, limit: 3 }]);
    expect(found).toEqual([['s0-0', 's0-1', 's0-2']]);
    // Lookups in the catalogs of the first resources that are ranked exactly, and of those that are counted.
    expect(lookedUp).toBeLessThan(2_100);
    const others = await searches.find([
      { intent: { textSearch: 'night 17' }, limit: 3 },
      { intent: { textSearch: 'night' }, limit: 2, offset: 999 },
    ]);
    expect(others.found).toEqual([
      ['s17-0', 's17-1', 's17-2'],
      ['s5-9', 's5-10'],
    ]);
  } finally {
    await searches.close();
  }
});

/** In an array as PostgreSQL gets it. */
function countKeys(array: unknown): number {
  return ((array as Buffer).length - 20) / 12;
}

/** In the first shop, the offers on the last ten resources have expired. */
function shop(number: number) {
  const id = `s${number}`;
  const ids = Array.from({ length: 200 }, (_, index) => `${id}-${index}`);
  const from = {
    source: 'node',
    owner: 'provider.example/reg',
    type: 'REGULAR',
    networks: [],
    mode: 'FULL',
  } as const;
  return {
    ...from,
    catalog: catalog(id, {
      resources: ids.map((each) => plain(each, `Thing ${number}`)),
      offers: [
        ...Array.from({ length: 100 }, (_, index) =>
          offer(`o${index}`, {
            descriptor: { name: 'Night tariff' },
            resourceIds: ids.slice(2 * index, 2 * index + 2),
            ...(number === 0 && index >= 95 && { validity: { endDate: '2020-01-01T00:00:00Z' } }),
          }),
        ),
        offer(`abroad-${number}`, { resourceIds: [`s${number - 1}-0`] }),
      ],
    }),
  };
}
