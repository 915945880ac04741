import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { removeFromLists } from '../../../tests/support/search/remove-from-lists.ts';
import { hash53 } from '../write/attribute-entries.ts';
import { beginningOf, compactFrom, type Position } from './compact.ts';
import { readLists, readOn } from './read-parts.ts';
import { readWholeLists } from './read-whole.ts';
import { addToLists, type ListEntries } from './runs.ts';
import { findSharedList } from './shared-runs.ts';

let database: SearchingProcess;
useDatabase(
  (opened) => {
    database = withCaches(opened);
  },
  { emptied: 'discovery.run' },
);

/** So many lists of one entry each are shared. */
const many = 3_000;
const lists = Array.from({ length: many }, (_, index) => hash53(`fact ${index}`));
const sample = [0, 1, 2, 1_000, many - 1].map((index) => lists[index] as number);

describe('lists that share runs', () => {
  it('take a small part of the rows that lists of their own take', async () => {
    await addOneEach(1);
    expect(await countRuns()).toBeLessThan(many / 20);
  });

  it('have rows of their own where few are written together', async () => {
    await database.transaction((tx) =>
      addToLists(
        tx,
        sample.map((list) => entry(list, 1)),
        { sharesRuns: true },
      ),
    );
    expect(await countRuns()).toBe(sample.length);
  });

  it('hold what was added and not taken out again, whatever was compacted meanwhile, read whole or in parts', async () => {
    const change = fc.record({
      kind: fc.constantFrom('share', 'add', 'remove', 'merge'),
      lists: fc.subarray(sample, { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 3, maxLength: 12 }), async (changes) => {
        await database.query('truncate discovery.run');
        const held = new Map(sample.map((list) => [list, new Set<number>()]));
        for (const [index, { kind, lists: chosen }] of changes.entries()) {
          const key = 100 + index;
          if (kind === 'merge') await compactAll();
          if (kind === 'share') await addOneEach(key);
          if (kind === 'share') for (const keys of held.values()) keys.add(key);
          if (kind === 'add') {
            const added = chosen.map((list) => entry(list, key));
            await database.transaction((tx) => addToLists(tx, added, { sharesRuns: true }));
            for (const list of chosen) held.get(list)?.add(key);
          }
          if (kind === 'remove') {
            const leaving = chosen.flatMap((list) =>
              [...(held.get(list) ?? [])].map((each) => entry(list, each)),
            );
            await database.transaction((tx) => removeFromLists(tx, leaving));
            for (const list of chosen) held.get(list)?.clear();
          }
        }
        const whole = await readWholeLists(withCaches(database), sample);
        for (const list of sample) {
          const expected = [...(held.get(list) ?? [])].sort((a, b) => a - b);
          expect([...(whole.get(list)?.others.keys ?? [])]).toEqual(expected);
          expect(await readInParts(list)).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('are in few runs each, however many transactions have added to them, once they are compacted', async () => {
    for (let key = 1; key <= 20; key++) await addOneEach(key);
    await compactAll();
    for (const list of sample) {
      const { rows } = await database.query(
        'select from discovery.run where list = $1 and first <= $2 and last >= $2',
        [findSharedList(list), list],
      );
      expect(rows.length).toBeLessThan(4);
    }
  });

  it('get runs of their own when they are compacted with many entries, and can be removed from there', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => index + 1);
    for (const key of keys) await addOneEach(key);
    await compactAll();
    const { rows } = await database.query<{ keys: number }>(
      'select sum(count)::int as keys from discovery.run where list = any ($1::bigint[]) group by list',
      [sample],
    );
    expect(rows).toEqual(sample.map(() => ({ keys: keys.length })));
    const [list = 0] = sample;
    await database.transaction((tx) => removeFromLists(tx, [entry(list, 1), entry(list, 7)]));
    const left = keys.filter((key) => key !== 1 && key !== 7);
    expect(await readInParts(list)).toEqual(left);
    const whole = await readWholeLists(withCaches(database), [list]);
    expect([...(whole.get(list)?.others.keys ?? [])]).toEqual(left);
  });
});

function entry(list: number, key: number): ListEntries {
  return { list, keys: [key], marks: [0] };
}

async function addOneEach(key: number): Promise<void> {
  await database.transaction((tx) =>
    addToLists(
      tx,
      lists.map((list) => entry(list, key)),
      { sharesRuns: true },
    ),
  );
}

async function compactAll(): Promise<void> {
  for (let from: Position | undefined = beginningOf(Number.MIN_SAFE_INTEGER); from; )
    ({ rest: from } = await compactFrom(database, from, Number.MAX_SAFE_INTEGER));
}

async function countRuns(): Promise<number> {
  return (await database.query('select from discovery.run')).rowCount;
}

async function readInParts(list: number): Promise<number[]> {
  const keys: number[] = [];
  let part = (await readLists(database, [list], 1)).get(list);
  for (; part; part = part.rest && (await readOn(database, part.rest, 1))) keys.push(...part.keys);
  return keys;
}
