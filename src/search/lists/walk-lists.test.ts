import { beforeEach, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { readLists, readRange } from './read-parts.ts';
import { addToLists, type ListEntries, numberList } from './runs.ts';
import { startCompactor, walkLists } from './walk-lists.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

beforeEach(() => database.query('truncate discovery.run, discovery.compaction'));

const fact = 4711;
const path = 12;
const numbers = numberList(path);
const { signal } = new AbortController();

it('lists that nobody has searched are compacted soon after keys were added, and hold the same keys', async () => {
  for (let key = 1; key <= 40; key++) await add(fact, key);
  const found = await readLists(database, [fact], 100);
  const compactor = startCompactor({ config: readConfig({}), database, logger: silentLogger() });
  await until(async () => (await countRuns(fact)) === 1, 'one run');
  for (let key = 41; key <= 80; key++) await add(numbers, key);
  await until(async () => (await countRuns(numbers)) === 1, 'one run of numbers');
  await compactor.close();
  expect((await readLists(database, [fact], 100)).get(fact)?.keys).toEqual(found.get(fact)?.keys);
  expect((await readRange(database, { path }, { maxRuns: 100 })).numbers.keys).toHaveLength(40);
});

it('a walk leaves few runs as they are, and neighbours that fill more than one run become several', async () => {
  for (let key = 1; key <= 3; key++) await add(fact, key);
  for (let key = 1; key <= 500; key++) await add(numbers, key);
  await walkLists(database, signal);
  expect(await countRuns(fact)).toBe(3);
  expect(await countRuns(numbers)).toBe(5);
});

it('runs of numbers that overlap are sorted anew, so that a narrow range stands in few of them', async () => {
  const batches = 60;
  for (let batch = 0; batch < batches; batch++) {
    const keys = Array.from({ length: 120 }, (_, index) => 1 + batch * 120 + index);
    const marks = keys.map((key) => (key * 7_919) % 1_000);
    await database.transaction((tx) => addToLists(tx, [{ list: numbers, keys, marks }]));
  }
  const range = { path, low: { value: 500, inclusive: true }, high: { value: 510, inclusive: true } };
  const { numbers: before } = await readRange(database, range, { maxRuns: 1_000 });
  expect(await countRunsAround(505)).toBe(batches);
  await walkLists(database, signal);
  expect(await countRunsAround(505)).toBeLessThan(4);
  expect(await countRuns(numbers)).toBe(batches);
  const { numbers: after } = await readRange(database, range, { maxRuns: 1_000 });
  expect([...after.keys].sort()).toEqual([...before.keys].sort());
  expect(after.keys.length).toBeGreaterThan(50);
});

it('nobody walks again until something is added', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await walkLists(database, signal);
  expect(await countRuns(fact)).toBe(1);
  expect(await countStatementsOfWalk()).toBe(1);
  await add(fact, 9);
  expect(await countStatementsOfWalk()).toBeGreaterThan(1);
  expect(await countStatementsOfWalk()).toBe(1);
});

it('in a large index nobody walks for few runs that were added', async () => {
  const others = Array.from({ length: 500 }, (_, index) => ({
    list: fact + 1 + index,
    keys: [1],
    marks: [0],
  }));
  await database.transaction((tx) => addToLists(tx, others));
  await database.query('analyze discovery.run');
  await walkLists(database, signal);
  for (let key = 1; key <= 5; key++) await add(fact, key);
  expect(await countStatementsOfWalk()).toBe(1);
  await add(fact, 6);
  await walkLists(database, signal);
  expect(await countRuns(fact)).toBe(1);
});

it('one process at a time walks, and another one takes over from one that was not heard of', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await database.query(
    `insert into discovery.compaction (lease_token, leased_until) values (gen_random_uuid(), now() + interval '1 minute')
     on conflict (id) do update set lease_token = excluded.lease_token, leased_until = excluded.leased_until`,
  );
  await walkLists(database, signal);
  expect(await countRuns(fact)).toBe(8);
  await database.query("update discovery.compaction set leased_until = now() - interval '1 second'");
  await walkLists(database, signal);
  expect(await countRuns(fact)).toBe(1);
});

it('a run that somebody else is writing anew is passed over', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await database.transaction(async (tx) => {
    await tx.query('select from discovery.run where list = $1 and first = 3 for update', [fact]);
    await walkLists(database, signal);
  });
  expect(await countRuns(fact)).toBe(2);
});

async function add(list: number, key: number): Promise<void> {
  const entries: ListEntries = { list, keys: [key], marks: [list === numbers ? key : 0] };
  await database.transaction((tx) => addToLists(tx, [entries]));
}

async function countRuns(list: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) as count from discovery.run where list = $1',
    [list],
  );
  return rows[0]?.count ?? 0;
}

async function countStatementsOfWalk(): Promise<number> {
  let count = 0;
  const counted: Database = Object.assign(Object.create(database), {
    query(...asked: Parameters<Database['query']>) {
      count += 1;
      return database.query(...asked);
    },
  });
  await walkLists(counted, signal);
  return count;
}

async function countRunsAround(value: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) from discovery.run where list = $1 and first <= $2 and last >= $2',
    [numbers, value],
  );
  return Number(rows[0]?.count);
}
