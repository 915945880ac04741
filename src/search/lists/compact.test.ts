import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/index-reader.ts';
import { until } from '../../../tests/support/time.ts';
import { silentLogger } from '../../logger.ts';
import { startCompactor } from './compact.ts';
import { readLists } from './read-parts.ts';
import { addToLists } from './runs.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

const list = 4711;

it('a list that a search finds fragmented is compacted soon after, and nobody needs to ask again', async () => {
  for (let key = 1; key <= 40; key++)
    await database.transaction((tx) => addToLists(tx, [{ list, keys: [key], marks: [0] }]));
  const compactor = startCompactor({ database, caches: () => database.caches, logger: silentLogger() });
  const found = await readLists(database, [list], 100);
  await until(async () => (await countRuns()) <= 1, 'one piece');
  await compactor.close();
  expect((await readLists(database, [list], 100)).get(list)?.keys).toEqual(found.get(list)?.keys);
});

async function countRuns(): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*) as count from discovery.run');
  return rows[0]?.count ?? 0;
}
