import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database.ts';
import { catalog, offer, plain } from '../../../tests/support/sample-catalogs.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { createThreadPool } from '../../thread-pool.ts';
import { createSearch } from '../port.ts';
import { writeIndex } from '../write/write-index.ts';

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

// Candidates are checked part by part: of so many before it, the last catalog and its resource come with different parts.
it.each([1_199, 1_999])(
  'After %i resources, one that an offer names and a wide offer covers is found once.',
  async (count) => {
    await database.query('truncate discovery.run, discovery.catalog, discovery.offer_target cascade');
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
