import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { removeFromLists } from '../../../tests/support/search/remove-from-lists.ts';
import type { Transaction } from '../../storage/database.ts';
import { keyOf, lastNumbers, maxCatalogKey } from '../documents/keys.ts';
import { mergeRuns } from './compact.ts';
import { countLists } from './count-lists.ts';
import { sortByValue } from './number-list.ts';
import { readLists, readOn, readRange, readRanges } from './read-parts.ts';
import { addToLists, numberList } from './runs.ts';

const list = 4711;
const path = 815;

let database: SearchingProcess;
useDatabase(
  (opened) => {
    database = withCaches(opened);
  },
  { emptied: 'discovery.run' },
);

describe('a list', () => {
  it('holds what was added and not taken out again, in order, whatever was compacted meanwhile', async () => {
    const change = fc.record({
      kind: fc.constantFrom('add', 'remove', 'merge'),
      keys: fc.uniqueArray(fc.nat(900), { maxLength: 400, size: 'max' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        await database.query('truncate discovery.run');
        const held = new Set<number>();
        for (const { kind, keys } of changes) {
          const chosen = keys.filter((key) => held.has(key) === (kind === 'remove'));
          if (kind === 'merge') await mergeRuns(database, list);
          if (kind === 'add') await add(chosen);
          if (kind === 'remove') await database.transaction((tx) => removeFromLists(tx, [entries(chosen)]));
          for (const key of chosen) {
            if (kind === 'add') held.add(key);
            if (kind === 'remove') held.delete(key);
          }
        }
        const sorted = [...held].sort((a, b) => a - b);
        expect(await readAll(2)).toEqual(sorted);
        const within = await readRanges(database, [list], { from: 200, upTo: 700 });
        expect([...(within.get(list)?.keys ?? [])]).toEqual(sorted.filter((key) => key >= 200 && key <= 700));
      }),
      { numRuns: 25 },
    );
  });

  it('is read whole by a reader between whose parts its runs are compacted', async () => {
    for (let key = 1; key <= 60; key++) await add([key]);
    const first = (await readLists(database, [list], 10)).get(list);
    expect(first?.keys.length).toBe(10);
    expect(await mergeRuns(database, list)).toBe(59);
    const second = first?.rest && (await readOn(database, first.rest, 10));
    expect([...(first?.keys ?? []), ...(second?.keys ?? [])]).toEqual(range(1, 60));
    expect(second?.rest).toBeUndefined();
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
      ...range(1, 5).map(() => mergeRuns(database, list)),
    ]);
    await Promise.all([
      remove(range(101, 180).filter(odd)),
      mergeRuns(database, list),
      mergeRuns(database, list),
    ]);
    expect(await readAll(3)).toEqual(range(101, 180).filter((key) => !odd(key)));
  });

  it('whose runs somebody is just writing anew is compacted as far as it is free', async () => {
    for (let key = 1; key <= 40; key++) await add([key]);
    await database.transaction(async (tx) => {
      await removeFromLists(tx, [entries([20])]);
      expect(await mergeRuns(database, list)).toBe(38);
    });
    expect(await readAll(100)).toEqual(range(1, 40).filter((key) => key !== 20));
  });

  it('that a rolled back transaction changed is as it was', async () => {
    await add(range(1, 10));
    const failing = database.transaction(async (tx) => {
      await removeFromLists(tx, [entries([3])]);
      await addToLists(tx, [entries([12])]);
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await readAll(100)).toEqual(range(1, 10));
  });

  it('loses a key that stands in one of many runs that overlap, and nothing else', async () => {
    for (let run = 1; run <= 40; run++) await add([run, 1000 + run, 2000 + run]);
    await remove([1001, 1020, 2001, 5000]);
    const expected = [1, 1001, 2001].flatMap((start) => range(start, start + 39));
    expect(await readAll(100)).toEqual(expected.filter((key) => ![1001, 1020, 2001].includes(key)));
  });

  it('holds the first and the last of all keys, and what lies far apart', async () => {
    const first = keyOf(1, 0);
    const last = keyOf(maxCatalogKey, lastNumbers.offer);
    const keys = [first, first + 1, keyOf(1, lastNumbers.offer), keyOf(2 ** 26, 1), last - 1, last];
    for (const key of [...keys].reverse()) await add([key]);
    expect(await readAll(2)).toEqual(keys);
    await mergeRuns(database, list);
    expect(await readAll(2)).toEqual(keys);
    await remove([first, last]);
    expect(await readAll(2)).toEqual(keys.slice(1, -1));
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
      while (!isOver) await mergeRuns(database, list);
    };
    const read = async () => {
      while (!isOver) {
        const found = await readAll(3);
        expect(found.filter((key) => key % 2 === 0)).toEqual(staying);
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
      }
    };
    const others = Promise.all([merge(), merge(), read(), read()]);
    await Promise.all([change(coming.slice(0, 30)), change(coming.slice(30))]).finally(() => {
      isOver = true;
    });
    await others;
    expect(await readAll(3)).toEqual(staying);
  });

  it('is counted whole, in however many runs it is', async () => {
    const pieces = range(1, 700).map((key) => ({ ...{ list, keys: [key] }, marks: [1] }));
    await database.transaction((tx) => addToLists(tx, pieces));
    expect(await countLists(database, [list, list + 1])).toEqual(
      new Map([
        [list, 700],
        [list + 1, 0],
      ]),
    );
  });

  it('is not taken for as long as its keys reach, where a large catalog has nearly all of them', async () => {
    await add(range(1, 30_000).map((number) => keyOf(1, number)));
    await add([keyOf(1_000_000, 1)]);
    expect(await countLists(database, [list])).toEqual(new Map([[list, 30_001]]));
  });
});

describe('numbers', () => {
  const number = fc.tuple(fc.integer({ min: -2, max: 9 }), fc.nat(400));
  const bound = fc.option(fc.record({ value: fc.integer({ min: -3, max: 10 }), inclusive: fc.boolean() }), {
    nil: undefined,
  });

  beforeEach(() => database.query('truncate discovery.run'));

  it('are found by their range, by value and key, in parts, whatever was compacted in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(number, { selector: String, maxLength: 700, size: 'max' }),
        fc.uniqueArray(fc.nat(699), { maxLength: 60 }),
        bound,
        bound,
        async (numbers, gone, low, high) => {
          await database.query('truncate discovery.run');
          await database.transaction((tx) => addNumbers(tx, numbers));
          const leaving = gone.flatMap((index) => (numbers[index] ? [numbers[index]] : []));
          await database.transaction((tx) =>
            removeFromLists(tx, [
              {
                list: numberList(path),
                keys: leaving.map(([, key]) => key),
                marks: leaving.map(([value]) => value),
              },
            ]),
          );
          const left = numbers.filter((each) => !leaving.includes(each));
          const expected = left
            .filter(
              ([value]) => low === undefined || value > low.value || (low.inclusive && value === low.value),
            )
            .filter(
              ([value]) =>
                high === undefined || value < high.value || (high.inclusive && value === high.value),
            )
            .sort(([a, x], [b, y]) => a - b || x - y)
            .map(([, key]) => key);
          const keys: number[] = [];
          let from: number | undefined;
          do {
            const part = await readRange(database, { path, low, high }, { maxRuns: 2, from });
            keys.push(...sortByValue(part.numbers).keys);
            from = part.rest;
            await mergeRuns(database, numberList(path));
          } while (from !== undefined);
          expect(keys).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('numbers at the ends of what there is', () => {
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
  const numbers = numberList(path);
  const put = (value: number, key: number) =>
    database.transaction((tx) => addToLists(tx, [{ list: numbers, keys: [key], marks: [value] }]));
  const find = async (value: number) => {
    const bound = { value, inclusive: true };
    const { numbers: found } = await readRange(database, { path, low: bound, high: bound }, { maxRuns: 2 });
    return [...sortByValue(found).keys];
  };

  it('are found by their values, before and after they are compacted', async () => {
    for (const [index, value] of values.entries()) await put(value, 1 + index);
    await put(-0, 100);
    for (const isMerged of [false, true]) {
      if (isMerged) await mergeRuns(database, numbers);
      for (const [index, value] of values.entries())
        expect(await find(value)).toEqual(value === 0 ? [3, 100] : [1 + index]);
      expect(await find(0.3)).toEqual([]);
    }
  });

  it('go by value and key, also where a value has many runs, and zero is zero whatever its sign', async () => {
    for (let key = 1; key <= 300; key++) await put(7, key);
    await put(-0, 5);
    const gone = { list: numbers, keys: [1, 150, 300, 5], marks: [7, 7, 7, 0] };
    await database.transaction((tx) => removeFromLists(tx, [gone]));
    expect(await find(7)).toEqual(range(2, 299).filter((key) => key !== 150));
    expect(await find(0)).toEqual([]);
  });
});

function entries(keys: number[]): { list: number; keys: number[]; marks: number[] } {
  return { list, keys, marks: keys.map((key) => key % 100) };
}

function add(keys: number[]): Promise<void> {
  return database.transaction((tx) => addToLists(tx, [entries(keys)]));
}

function remove(keys: number[]): Promise<void> {
  return database.transaction((tx) => removeFromLists(tx, [entries(keys)]));
}

async function addNumbers(tx: Transaction, numbers: readonly (readonly [number, number])[]): Promise<void> {
  for (const value of new Set(numbers.map(([each]) => each))) {
    const keys = numbers.filter(([each]) => each === value).map(([, key]) => key);
    await addToLists(tx, [{ list: numberList(path), keys, marks: keys.map(() => value) }]);
  }
}

async function readAll(maxRuns: number): Promise<number[]> {
  const first = (await readLists(database, [list], maxRuns)).get(list);
  const keys = [...(first?.keys ?? [])];
  for (let rest = first?.rest; rest; ) {
    const part = await readOn(database, rest, maxRuns);
    keys.push(...part.keys);
    expect([...part.weights]).toEqual(Array.from(part.keys, (key) => key % 100));
    rest = part.rest;
  }
  return keys;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
