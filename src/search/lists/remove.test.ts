import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { entriesIn } from '../../../tests/support/search/list-entries.ts';
import type { Database } from '../../storage/database.ts';
import { columnList, wordList } from './list-numbers.ts';
import { createListRemovals } from './remove.ts';
import { addToLists, type Entry, entriesOf, type StoredRun } from './runs.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const lists = [wordList(1), wordList(2), columnList(6)];
const names = lists.flatMap((list) =>
  [1, 2, 3].flatMap((key) => [10, 20].map((mark) => JSON.stringify([list, key, mark]))),
);

it('an entry that leaves a list and comes again in one transaction, however often, stands there once or not at all', async () => {
  const step = fc.record({
    turned: fc.subarray(names, { minLength: 1 }),
    isFlushed: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.subarray(names), fc.array(step, { maxLength: 6 }), async (first, steps) => {
      await database.query('truncate index_1.run');
      await database.transaction((tx) => addToLists(tx, 'index_1', entriesNamed(first)));
      const held = new Set(first);
      await database.transaction(async (tx) => {
        const removals = createListRemovals('index_1');
        for (const { turned, isFlushed } of steps) {
          const [leaving, coming] = [true, false].map((is) => turned.filter((name) => held.has(name) === is));
          await addToLists(tx, 'index_1', removals.cancel(entriesNamed(coming ?? [])));
          await removals.add(tx, entriesNamed(leaving ?? []));
          if (isFlushed) await removals.write(tx);
          for (const name of turned) if (!held.delete(name)) held.add(name);
        }
        await removals.write(tx);
      });
      expect(await readNames()).toEqual([...held].sort());
    }),
    { numRuns: runs(40) },
  );
});

it('transactions that take different keys out of the same runs at the same time take out all of them', async () => {
  const owners = Array.from({ length: 12 }, (_, n) => n);
  const keysOf = (owner: number) => [owner, owner + 12, owner + 24];
  const kept = 1_000;
  await database.query('truncate index_1.run');
  const all = lists.map((list) => {
    const keys = [...owners.flatMap(keysOf), kept].sort((a, b) => a - b);
    return { list, keys, marks: keys.map((key) => key % 7) };
  });
  await database.transaction((tx) => addToLists(tx, 'index_1', entriesIn(all)));
  await Promise.all(
    owners.map((owner) =>
      database.transaction(async (tx) => {
        const removals = createListRemovals('index_1');
        // Each in a different order.
        const turned = [...lists.slice(owner % 3), ...lists.slice(0, owner % 3)];
        const keys = keysOf(owner);
        await removals.add(
          tx,
          entriesIn(turned.map((list) => ({ list, keys, marks: keys.map((key) => key % 7) }))),
        );
        await removals.write(tx);
      }),
    ),
  );
  expect(await readNames()).toEqual(lists.map((list) => JSON.stringify([list, kept, kept % 7])).sort());
});

function entriesNamed(chosen: readonly string[]): Entry[] {
  return chosen.map((name) => {
    const [list = 0, key = 0, mark = 0]: number[] = JSON.parse(name);
    return { list, key, mark };
  });
}

async function readNames(): Promise<string[]> {
  const { rows } = await database.query<StoredRun>('select * from index_1.run');
  const entries = rows.flatMap(entriesOf);
  return entries.map(({ list, key, mark }) => JSON.stringify([list, key, mark])).sort();
}
