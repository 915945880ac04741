import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database.ts';
import { catalog, charger, offer } from '../../../tests/support/sample-catalogs.ts';
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

async function find(textSearch: string): Promise<number> {
  const engine = { config: readConfig({}), database, threads, now: () => new Date(), caches: () => caches };
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
