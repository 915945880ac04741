import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { DiscoverMessage } from '../../src/protocol/discover-messages.ts';
import { entriesOf, insertRuns, noteChanged, runsOf, type StoredRun } from '../../src/search/lists/runs.ts';
import { createSearch, type SearchService, writeIndex } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { catalog, charger } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';

// A list of many runs is read in parts. Here every run has one key, as after many small changes or right after an upgrade: searches find the same as
// with few runs.

const resources = 6_700;

let database: Database;
let threads: ThreadPool;
let service: SearchService;
useDatabase((opened) => {
  database = opened;
});
beforeAll(async () => {
  const logger = silentLogger();
  threads = createThreadPool({ size: 1, logger });
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` });
  service = createSearch({ config, database, threads, now: () => new Date() });
  const incoming = {
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    ...{ mode: 'FULL' as const, catalog: catalog('large', { resources: chargers() }) },
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply([incoming])));
});
afterAll(() => threads.close());

it('the same is found, in the same order, in lists of thousands of runs', async () => {
  const inFew = await answers();
  await database.transaction(takeApart);
  expect(await answers()).toEqual(inFew);
});

it('an answer without a limit has what its pages have, in their order', async () => {
  for (const { intent } of asked) {
    const pages: string[] = [];
    for (let offset = 0; offset < 1_000; offset += 125)
      pages.push(...(await find({ intent, offset, limit: 125 })));
    expect(await find({ intent })).toEqual(pages);
  }
});

async function find(message: DiscoverMessage): Promise<string[]> {
  const { answer } = await service.search({ message, scope: {} });
  const catalogs: { resources: { id: string }[] }[] = JSON.parse(answer.catalogs);
  return catalogs.flatMap(({ resources }) => resources.map(({ id }) => id));
}

function chargers() {
  return Array.from({ length: resources }, (_, n) =>
    charger(`r${n}`, { price: (n * 7919) % 1_000, make: n % 3 === 0 ? 'Volt' : 'Ampere' }),
  );
}

const price = '@.resourceAttributes.attributes.price';
const make = "@.resourceAttributes.attributes.make == 'Volt'";
const type = "@.resourceAttributes.type == 'EV_CHARGER'";
const filters = [
  type,
  `${type} && ${price} >= 100`,
  `${price} >= 100 && ${price} < 900`,
  `${type} && ${make}`,
  `${make} || ${price} > 500`,
];
const asked: DiscoverMessage[] = [
  ...filters.map((each) => ({ intent: { filters: filter(each) } })),
  { intent: { textSearch: 'charger' } },
  { intent: { textSearch: 'charger large r7' } },
  { intent: { textSearch: 'charger', filters: filter(`${type} && ${price} == 7`) } },
  { intent: { filters: filter(`search(@.id, '7$') && ${type}`) } },
];

async function answers(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const each of asked)
    for (const offset of [0, 950]) {
      const { answer } = await service.search({ message: { ...each, limit: 60, offset }, scope: {} });
      found.push(answer);
    }
  return found;
}

function filter(condition: string) {
  return { type: 'jsonpath' as const, expression: `$.catalogs[*].resources[?${condition}]` };
}

async function takeApart(tx: Parameters<typeof insertRuns>[0]): Promise<void> {
  const { rows } = await tx.query<StoredRun>('delete from index_1.run returning *');
  const singles = rows.flatMap(entriesOf).flatMap((entry) => runsOf([entry]));
  await insertRuns(tx, 'index_1', singles);
  // Otherwise cached parts would answer.
  await noteChanged(
    tx,
    singles.map(({ list }) => list),
  );
}
