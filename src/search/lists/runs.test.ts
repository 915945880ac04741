import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { compactLists } from '../../../tests/support/search/compact-lists.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { addToLists, removeFromLists } from '../../../tests/support/search/list-entries.ts';
import { keyOf, lastNumbers } from '../keys.ts';
import { type DocSet, readAll } from '../set/doc-set.ts';
import { keysOf } from '../set/sorted.ts';
import { columnList, wordList } from './list-numbers.ts';
import { listSet, streamRuns } from './list-set.ts';
import { openLists } from './read-lists.ts';

const maxCatalogKey = 2 ** 27 - 1;
const list = wordList(4711);
const path = 815;

let database: SearchingProcess;
useDatabase(
  (opened) => {
    database = withCaches(opened);
  },
  { emptied: 'index_1.run' },
);

describe('a list', () => {
  it('holds what was added and not taken out again, in order, whatever was compacted meanwhile', async () => {
    const change = fc.record({
      kind: fc.constantFrom('add', 'remove', 'merge'),
      keys: fc.uniqueArray(fc.nat(900), { maxLength: 400, size: 'max' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        await database.query('truncate index_1.run');
        const held = new Set<number>();
        for (const { kind, keys } of changes) {
          const chosen = keys.filter((key) => held.has(key) === (kind === 'remove'));
          if (kind === 'merge') await compactLists(database);
          if (kind === 'add') await add(chosen);
          if (kind === 'remove') await database.transaction((tx) => removeFromLists(tx, [entries(chosen)]));
          for (const key of chosen) {
            if (kind === 'add') held.add(key);
            if (kind === 'remove') held.delete(key);
          }
        }
        const sorted = [...held].sort((a, b) => a - b);
        expect(await readList(2)).toEqual(sorted);
        const wanted = keysOf(range(200, 700).filter((key) => key % 3 === 0));
        const directory = (await openLists(database, [list])).get(list);
        const among = directory && (await listSet(database, directory).among(wanted));
        expect([...(among ?? [])]).toEqual([...wanted].filter((key) => held.has(key)));
      }),
      { numRuns: runs(25) },
    );
  });

  it('is read whole by a reader between whose parts its runs are compacted', async () => {
    for (let key = 1; key <= 60; key++) await add([key, key + 1_000]);
    database.caches.lists.clear();
    const directory = (await openLists(database, [list])).get(list);
    const set = directory && listSet(database, directory);
    const first = await set?.next(10);
    expect(await compactLists(database)).toBeGreaterThan(50);
    database.caches.runs.clear();
    const rest = set && (await readSet(set));
    expect([...(first ?? []), ...(rest ?? [])]).toEqual([...range(1, 60), ...range(1_001, 1_060)]);
  });

  it('loses nothing when two add to it and two take out of it at the same time, while it is compacted', async () => {
    for (const keys of [range(1, 40), range(41, 80), range(81, 83), range(84, 84), range(85, 90)])
      await add(keys);
    const odd = (key: number) => key % 2 === 1;
    await Promise.all([
      ...range(1, 45).map((n) => remove([n])),
      ...range(46, 90).map((n) => remove([n])),
      ...range(101, 140).map((n) => add([n])),
      ...range(141, 180).map((n) => add([n])),
      ...range(1, 5).map(() => compactLists(database)),
    ]);
    await Promise.all([remove(range(101, 180).filter(odd)), compactLists(database), compactLists(database)]);
    expect(await readList(3)).toEqual(range(101, 180).filter((key) => !odd(key)));
  });

  it('that a rolled back transaction changed is as it was', async () => {
    await add(range(1, 10));
    const failing = database.transaction(async (tx) => {
      await removeFromLists(tx, [entries([3])]);
      await addToLists(tx, 'index_1', [entries([12])]);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await readList(100)).toEqual(range(1, 10));
  });

  it('loses a key that stands in one of many runs that overlap, and nothing else', async () => {
    for (let run = 1; run <= 40; run++) await add([run, 1000 + run, 2000 + run]);
    await remove([1001, 1020, 2001, 5000]);
    const expected = [1, 1001, 2001].flatMap((start) => range(start, start + 39));
    expect(await readList(100)).toEqual(expected.filter((key) => ![1001, 1020, 2001].includes(key)));
  });

  it('holds the first and the last of all keys, and what lies far apart', async () => {
    const first = keyOf(1, 0);
    const last = keyOf(maxCatalogKey, lastNumbers.offer);
    const keys = [first, first + 1, keyOf(1, lastNumbers.offer), keyOf(2 ** 26, 1), last - 1, last];
    for (const key of [...keys].reverse()) await add([key]);
    expect(await readList(2)).toEqual(keys);
    await compactLists(database);
    expect(await readList(2)).toEqual(keys);
    await remove([first, last]);
    expect(await readList(2)).toEqual(keys.slice(1, -1));
  });

  it('never lacks, for a reader, what stays in it while others add, take out and compact', async () => {
    const staying = range(1, 120).filter((key) => key % 2 === 0);
    const coming = range(1, 120).filter((key) => key % 2 === 1);
    for (let start = 0; start < staying.length; start += 5) await add(staying.slice(start, start + 5));
    let isOver = false;
    const change = async (keys: number[]) => {
      for (let start = 0; start < keys.length; start += 5) await add(keys.slice(start, start + 5));
      for (const key of keys) await remove([key]);
    };
    const merge = async () => {
      while (!isOver) await compactLists(database);
    };
    const read = async () => {
      while (!isOver) {
        const found = await readList(3);
        expect(found.filter((key) => key % 2 === 0)).toEqual(staying);
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
      }
    };
    const others = Promise.all([merge(), merge(), read(), read()]);
    await Promise.all([change(coming.slice(0, 30)), change(coming.slice(30))]).finally(() => {
      isOver = true;
    });
    await others;
    expect(await readList(3)).toEqual(staying);
  });

  it('is counted whole, in however many runs it is', async () => {
    const pieces = range(1, 700).map((key) => ({ ...{ list, keys: [key] }, marks: [1] }));
    await database.transaction((tx) => addToLists(tx, 'index_1', pieces));
    const directories = await openLists(database, [list, list - 2]);
    expect([list, list - 2].map((each) => directories.get(each)?.count)).toEqual([700, 0]);
  });
});

describe('a column', () => {
  const column = columnList(path);
  const number = fc.tuple(fc.integer({ min: -2, max: 9 }), fc.nat(400));
  const values = [
    -Number.MAX_VALUE,
    -1e-300,
    0,
    Number.MIN_VALUE,
    0.1 + 0.2,
    2 ** 53,
    1e21,
    Number.MAX_VALUE,
  ];

  it('holds the values of each document, several of one as well, whatever was removed and compacted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(number, { selector: String, maxLength: 700, size: 'max' }),
        fc.uniqueArray(fc.nat(699), { maxLength: 60 }),
        fc.integer({ min: -3, max: 10 }),
        async (numbers, gone, least) => {
          await database.query('truncate index_1.run');
          database.caches.lists.clear();
          const toEntries = (some: readonly (readonly [number, number])[]) => ({
            ...{ list: column, keys: some.map(([, key]) => key), marks: some.map(([value]) => value) },
          });
          for (const part of [numbers.slice(0, 300), numbers.slice(300)])
            await database.transaction((tx) => addToLists(tx, 'index_1', [toEntries(part)]));
          const leaving = gone.flatMap((index) => (numbers[index] ? [numbers[index]] : []));
          await database.transaction((tx) => removeFromLists(tx, [toEntries(leaving)]));
          const left = numbers.filter((each) => !leaving.includes(each));
          const expected = keysOf(left.filter(([value]) => value >= least).map(([, key]) => key));
          for (const isMerged of [false, true]) {
            if (isMerged) await compactLists(database);
            database.caches.lists.clear();
            const directory = (await openLists(database, [column])).get(column);
            const set = directory && listSet(database, directory, (value) => value >= least);
            expect(set && (await readAll(set))).toEqual(expected);
          }
        },
      ),
      { numRuns: runs(25) },
    );
  });

  it('holds numbers at the ends of what there is as they are', async () => {
    for (const [index, value] of values.entries())
      await database.transaction((tx) =>
        addToLists(tx, 'index_1', [{ list: column, keys: [1 + index], marks: [value] }]),
      );
    for (const isMerged of [false, true]) {
      if (isMerged) await compactLists(database);
      for (const [index, value] of values.entries()) {
        database.caches.lists.clear();
        const directory = (await openLists(database, [column])).get(column);
        const set = directory && listSet(database, directory, (each) => each === value);
        expect(set && (await readAll(set))).toEqual(Float64Array.of(1 + index));
      }
    }
  });
});

function entries(keys: number[]): { list: number; keys: number[]; marks: number[] } {
  return { list, keys, marks: keys.map((key) => key % 100) };
}

function add(keys: number[]): Promise<void> {
  return database.transaction((tx) => addToLists(tx, 'index_1', [entries(keys)]));
}

function remove(keys: number[]): Promise<void> {
  return database.transaction((tx) => removeFromLists(tx, [entries(keys)]));
}

async function readList(limit: number): Promise<number[]> {
  database.caches.lists.clear();
  const directory = (await openLists(database, [list])).get(list);
  const next = directory && streamRuns(database, directory);
  const keys: number[] = [];
  for (let part = await next?.(limit); part; part = await next?.(limit)) {
    keys.push(...part.keys);
    expect([...part.marks]).toEqual(Array.from(part.keys, (key) => key % 100));
  }
  return keys;
}

function readSet(set: DocSet): Promise<Float64Array | undefined> {
  return readAll(set);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
