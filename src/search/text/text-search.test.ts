import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../thread-pool.ts';
import { createCaches } from '../cache/caches.ts';
import { offerList } from '../lists/runs.ts';
import { evaluateIntent } from '../search.ts';
import { writeIndex } from '../write/write-index.ts';

let database: Database;
let threads: ThreadPool;
let caches = createCaches();
useDatabase((opened) => {
  database = opened;
});
beforeAll(async () => {
  threads = createThreadPool({ size: 1, logger: silentLogger() });
  await writeChargers('r1', 'r2');
});
afterAll(() => threads.close());
beforeEach(() => {
  caches = createCaches();
});

it('a word is found in all its offers, also where their list has too many runs to be read whole', async () => {
  for (let number = 1; number <= 40; number++)
    await write(
      catalog(`c${number}`, {
        resources: [charger(`of-${number}`)],
        offers: [offer(`o${number}`, { descriptor: { name: 'Discount' }, resourceIds: [`of-${number}`] })],
      }),
    );
  expect(await find('discount')).toBe(40);
  const { rows } = await database.query<{ id: number }>(
    `select id from discovery.word where word = 'discount'`,
  );
  caches.lists.keep(offerList(rows[0]?.id ?? 0), { list: undefined, bytes: 0 });
  expect(await find('discount')).toBe(40);
});

it('resources whose catalog has very many offers with a word, none of them valid now, are held against these once', async () => {
  const ids = Array.from({ length: 150 }, (_, index) => `late-${index}`);
  const expired = { descriptor: { name: 'Rebate' }, validity: { endDate: '2020-01-01T00:00:00Z' } };
  await write(
    catalog('late', {
      resources: ids.map((id) => charger(id)),
      offers: ids.map((id) => offer(`on-${id}`, { ...expired, resourceIds: [id] })),
    }),
  );
  let lookedAt = 0;
  const watched: Database = Object.create(database, {
    query: {
      value: (...asked: Parameters<Database['query']>) => {
        if (asked[0].includes('with valid as materialized')) lookedAt += countKeys(asked[1]?.[1]);
        return database.query(...asked);
      },
    },
  });
  expect(await find('rebate', watched)).toBe(0);
  // All resources at once, as the page has room for them.
  expect(lookedAt).toBe(150);
});

/** In an array as PostgreSQL gets it. */
function countKeys(array: unknown): number {
  return ((array as Buffer).length - 20) / 12;
}

async function find(textSearch: string, asked = database): Promise<number> {
  const engine = {
    ...{ config: readConfig({}), database: asked, threads },
    ...{ now: () => new Date(), caches: () => caches },
  };
  const { answer } = await evaluateIntent(engine, { message: { intent: { textSearch } }, scope: {} });
  return answer.resourceCount;
}

function writeChargers(...ids: string[]): Promise<void> {
  return write(catalog('c', { resources: ids.map((id) => charger(id)) }));
}

async function write(written: Catalog): Promise<void> {
  const incoming = {
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    ...{ mode: 'FULL' as const, catalog: written },
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
}
