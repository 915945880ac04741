import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { maxRunNumbers } from '../lists/number-list.ts';
import { addToLists, numberList } from '../lists/runs.ts';
import { readSources } from './read-sources.ts';

const path = 4_242;
/** As many values as a range in a large index has. */
const count = 400 * maxRunNumbers;

let database: SearchingProcess;
/** How many runs statements asked for, and how many statements did. */
let asked = 0;
let statements = 0;
useDatabase(
  (opened) => {
    database = Object.create(withCaches(opened), {
      query: {
        value: (text: string, values: unknown[], options: object) => {
          if (text.includes('discovery.run')) {
            asked += Number(values[3]);
            statements += 1;
          }
          return opened.query(text, values, options);
        },
      },
    });
  },
  { emptied: 'discovery.run' },
);

describe('a range of numbers beside other parts', () => {
  beforeEach(async () => {
    [asked, statements] = [0, 0];
    const keys = Array.from({ length: count }, (_, index) => index + 1);
    // Neighbours by value are far apart by key.
    const marks = keys.map((key) => (key * 7_919) % count);
    await database.transaction((tx) => addToLists(tx, [{ list: numberList(path), keys, marks }]));
  });

  it('is read on as far as the missing ones need, not as far again', async () => {
    const [reading] = await readSources({ database }, [{ kind: 'numbers', path }]);
    const wanted = { isWanted: (key: number) => key % 10 === 0, count: 1_001 };
    const found: number[] = [];
    for await (const keys of reading?.stream(wanted) ?? []) {
      found.push(...keys);
      if (found.length >= wanted.count) break;
    }
    const byValue = Array.from({ length: count }, (_, index) => index + 1)
      .filter(wanted.isWanted)
      .sort((a, b) => ((a * 7_919) % count) - ((b * 7_919) % count));
    expect(found).toEqual(byValue.slice(0, found.length));
    // One in ten is wanted: 1,001 of them stand in 84 runs.
    expect(asked).toBeLessThan(100);
  });

  it('is read to its end by few statements, where nearly all that is wanted comes first and the rest not at all', async () => {
    const [reading] = await readSources({ database }, [{ kind: 'numbers', path }]);
    const first = new Set(
      Array.from({ length: count }, (_, index) => index + 1).filter((key) => (key * 7_919) % count < 1_000),
    );
    const wanted = { isWanted: (key: number) => first.has(key), count: 1_001 };
    let found = 0;
    for await (const keys of reading?.stream(wanted) ?? []) found += keys.length;
    expect(found).toBe(first.size);
    expect(statements).toBeLessThan(15);
  });
});

describe('a range in which most resources have one value', () => {
  beforeEach(async () => {
    const keys = Array.from({ length: count }, (_, index) => index + 1);
    const marks = keys.map((key) => (key % 10 === 0 ? key : 0));
    await database.transaction((tx) => addToLists(tx, [{ list: numberList(path), keys, marks }]));
    [asked, statements] = [0, 0];
  });

  it('is looked at without reading that value to its end', async () => {
    const [reading] = await readSources({ database }, [{ kind: 'numbers', path }]);
    expect(reading?.whole).toBeUndefined();
    expect(reading?.count).toBeGreaterThan(5_000);
    expect(asked).toBeLessThan(70);
  });

  it.each([
    ['all of it', {}, 1],
    ['what is above that value', { low: { value: 0, inclusive: false } }, 10],
    ['that value', { high: { value: 0, inclusive: true } }, 1],
  ])('streams %s in order, by few statements', async (_, bounds, step) => {
    const [reading] = await readSources({ database }, [{ kind: 'numbers', path, ...bounds }]);
    const found: number[] = [];
    for await (const keys of reading?.stream() ?? []) found.push(...keys);
    const all = Array.from({ length: count / step }, (_, index) => (index + 1) * step);
    const zeros = all.filter((key) => key % 10 !== 0);
    const others = 'high' in bounds ? [] : all.filter((key) => key % 10 === 0);
    expect(found).toEqual([...zeros, ...others]);
    expect(statements).toBeLessThan(15);
  });
});
