import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { addToLists, type ListEntries, removeFromLists } from '../../../tests/support/search/list-entries.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { createQueryable } from '../../storage/statement.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { columnList } from '../lists/list-numbers.ts';
import { listSet } from '../lists/list-set.ts';
import { openLists } from '../lists/read-lists.ts';
import { readAll } from '../set/doc-set.ts';
import { startCompactor, walkLists } from './walk-lists.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

beforeEach(async () => {
  await database.query('truncate index_1.run');
  await database.query(
    'update index_1.compaction set walked_up_to = 0, lease_token = null, leased_until = null',
  );
});

const fact = 4711;
const numbers = columnList(12);
const generation = { number: 1, index: 'index_1', format: newestOf(indexFormats) };
const { signal } = new AbortController();

it('lists that nobody has searched are compacted soon after keys were added, and hold the same keys', async () => {
  for (let key = 1; key <= 40; key++) await add(fact, key);
  const compactor = startCompactor({
    config: readConfig({}),
    database,
    logger: silentLogger(),
    formats: indexFormats,
  });
  onTestFinished(() => compactor.close());
  await until(async () => (await countRuns(fact)) === 1, 'one run');
  for (let key = 41; key <= 80; key++) await add(numbers, key);
  // A walk may have merged the runs that existed when it began. Three more are not worth another walk.
  await until(async () => (await countRuns(numbers)) <= 3, 'few runs of numbers');
  expect(await read(fact)).toEqual(Float64Array.from({ length: 40 }, (_, index) => index + 1));
  expect(await read(numbers)).toEqual(Float64Array.from({ length: 40 }, (_, index) => index + 41));
});

it('a walk leaves few runs as they are, and neighbours that fill more than one run become several', async () => {
  for (let key = 1; key <= 3; key++) await add(fact, key);
  for (let key = 1; key <= 500; key++) await add(numbers, key);
  await walkLists(database, generation, signal);
  expect(await countRuns(fact)).toBe(3);
  expect(await countRuns(numbers)).toBe(3);
});

it('shared runs that overlap are sorted again, so that a fact stands in few of them', async () => {
  const batches = 40;
  for (let batch = 0; batch < batches; batch++) {
    const facts = Array.from({ length: 1_100 }, (_, index) => ({
      ...{ list: 1_000 + index * 128, keys: [1 + batch * 1_100 + index], marks: [0] },
    }));
    await database.transaction((tx) => addToLists(tx, 'index_1', facts));
  }
  const around = async () => {
    const { rowCount } = await database.query(
      'select from index_1.run where list < 0 and first <= 60000 and last >= 60000',
    );
    return rowCount;
  };
  expect(await around()).toBeGreaterThan(batches / 2);
  const before = await read(1_000 + 460 * 128);
  await walkLists(database, generation, signal);
  expect(await around()).toBeLessThan(4);
  database.caches.lists.clear();
  expect(await read(1_000 + 460 * 128)).toEqual(before);
  expect(before).toHaveLength(batches);
});

it('nobody walks again until something is added', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await walkLists(database, generation, signal);
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
  await database.transaction((tx) => addToLists(tx, 'index_1', others));
  await database.query('analyze index_1.run');
  await walkLists(database, generation, signal);
  for (let key = 1; key <= 5; key++) await add(fact, key);
  expect(await countStatementsOfWalk()).toBe(1);
  await add(fact, 6);
  await walkLists(database, generation, signal);
  expect(await countRuns(fact)).toBe(1);
});

it('one process at a time walks, and another one takes over from one that was not heard of', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await database.query(
    `update index_1.compaction set lease_token = gen_random_uuid(), leased_until = now() + interval '1 minute'`,
  );
  await walkLists(database, generation, signal);
  expect(await countRuns(fact)).toBe(8);
  await database.query("update index_1.compaction set leased_until = now() - interval '1 second'");
  await walkLists(database, generation, signal);
  expect(await countRuns(fact)).toBe(1);
});

it('a walk passes over runs while a transaction takes much out of lists, and does not wait for its end', async () => {
  for (let key = 1; key <= 8; key++) await add(fact, key);
  await database.transaction(async (tx) => {
    await removeFromLists(tx, [{ list: fact, keys: [3], marks: [0] }]);
    await walkLists(database, generation, signal);
  });
  expect(await countRuns(fact)).toBe(7);
});

async function read(list: number): Promise<Float64Array | undefined> {
  const directory = (await openLists(database, [list])).get(list);
  return directory && readAll(listSet(database, directory));
}

async function add(list: number, key: number): Promise<void> {
  const entries: ListEntries = { list, keys: [key], marks: [list === numbers ? key : 0] };
  await database.transaction((tx) => addToLists(tx, 'index_1', [entries]));
}

async function countRuns(list: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*) as count from index_1.run where list = $1',
    [list],
  );
  return rows[0]?.count ?? 0;
}

async function countStatementsOfWalk(): Promise<number> {
  let count = 0;
  const statements = createQueryable((...asked) => {
    count += 1;
    return database.query(...asked);
  });
  const counted: Database = Object.assign(Object.create(database), statements);
  await walkLists(counted, generation, signal);
  return count;
}
