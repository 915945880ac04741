import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { createSearch } from '../../src/search/port.ts';
import { writeIndex } from '../../src/search/write/write-index.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { catalog, offer, plain } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { countSearches } from '../support/search/counted-searches.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const incoming = {
  ...{ source: 'node', owner: 'provider.example/reg', networks: null },
  ...{ type: 'REGULAR' as const, mode: 'FULL' as const },
};
const cheap = (id: string, resourceIds?: string[]) =>
  offer(id, { descriptor: { name: 'cheap' }, ...(resourceIds && { resourceIds }) });

// Candidates are checked part by part: with this many before them, the last catalog and its resource are in different parts.
it.each([1_199, 1_999])(
  'After %i resources, one that an offer names and a wide offer covers is found once.',
  async (count) => {
    await database.query(
      'truncate index_1.run, discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target cascade',
    );
    const ids = Array.from({ length: count }, (_, index) => `r${index}`);
    const catalogs = [
      catalog('many', { resources: ids.map((id) => plain(id)), offers: [cheap('of-many', ids)] }),
      catalog('one', { resources: [plain('last')], offers: [cheap('named', ['last']), cheap('wide')] }),
    ];
    await database.transaction((tx) =>
      writeIndex(tx, new Date(), ({ apply }) =>
        apply(catalogs.map((each) => ({ ...incoming, catalog: each }))),
      ),
    );

    const threads = createThreadPool({ size: 1, logger: silentLogger() });
    const service = createSearch({ config: readConfig({}), database, threads, now: () => new Date() });
    const filters = {
      type: 'jsonpath' as const,
      expression: "$.catalogs[*].offers[?@.descriptor.name == 'cheap']",
    };
    const message = { intent: { filters }, offset: count - 1, limit: 10 };
    const { answer } = await service.search({ message, scope: {} });
    await threads.close();
    const found: Catalog[] = JSON.parse(answer.catalogs);
    expect(found.map(({ resources }) => resources?.map(({ id }) => id))).toEqual([
      [`r${count - 1}`],
      ['last'],
    ]);
    expect(answer.total).toBe(count + 1);
  },
);

describe('a filter on offers', () => {
  const shops = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => {
      const id = `s${from + index}`;
      return {
        ...incoming,
        catalog: catalog(id, { resources: [plain(`${id}-1`)], offers: [cheap('o', [`${id}-1`])] }),
      };
    });
  const apply = (all: ReturnType<typeof shops>) =>
    database.transaction((tx) => writeIndex(tx, new Date(), ({ apply: add }) => add(all)));

  it.each(["@.descriptor.name == 'cheap'", "@.descriptor.name != 'dear'", "search(@.descriptor.name, 'ea')"])(
    '%s reads as little of very many that pass it as of few',
    async (condition) => {
      await database.query(
        'truncate index_1.run, discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target cascade',
      );
      const searches = countSearches(database, readConfig({ DISCOVER_TIMEOUT_MS: '60000' }));
      const expression = `$.catalogs[*].offers[?${condition}]`;
      const find = async () => {
        // After the states of all catalogs are known.
        await searches.find([{ intent: { textSearch: 'resource' } }]);
        return searches.find([{ intent: { filters: { type: 'jsonpath', expression } }, limit: 3 }]);
      };
      try {
        await apply(shops(0, 1_400));
        const few = await find();
        await apply(shops(1_400, 3_000));
        const many = await find();
        expect(many.found).toEqual([['s0-1', 's1-1', 's2-1']]);
        expect(few.found).toEqual(many.found);
        // A longer list has more runs.
        expect(many.asked.statements).toBeLessThanOrEqual(few.asked.statements + 1);
        // If an index leads to all matching ones, their keys.
        expect(many.asked.characters - few.asked.characters).toBeLessThan(1_600 * 20);
      } finally {
        await searches.close();
      }
    },
  );
});
