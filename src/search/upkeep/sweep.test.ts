import { randomInt } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { catalog, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { until } from '../../../tests/support/time.ts';
import type { Database } from '../../storage/database.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { type IndexWriter, writeIndex } from '../write/write-index.ts';
import { checkIndex, type Difference } from './check.ts';
import { sweepPaths, sweepWords } from './sweep.ts';
import { walkLists } from './walk-lists.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const { signal } = new AbortController();
const generation = { number: 1, index: 'index_1', format: newestOf(indexFormats) };
const now = new Date('2026-06-01T12:00:00Z');
const refOf = (id: string) => ({ source: 'node', owner: 'o', id });

beforeEach(async () => {
  await write(({ remove }) => remove(['c', 'd', 'e', 'f'].map(refOf)));
  await sweep();
});

function write<T>(work: (writer: IndexWriter) => Promise<T>): Promise<T> {
  return database.transaction((tx) => writeIndex(tx, now, work));
}

/** A catalog with one resource per name. */
function named(id: string, ...names: string[]) {
  const from = { source: 'node', owner: 'o', type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  const resources = names.map((name, index) => plain(`${id}${index}`, name));
  return [{ ...from, catalog: catalog(id, { resources }) }];
}

const sweep = () => sweepWords(database, generation);

async function findWord(word: string): Promise<{ id: number; keys: number } | undefined> {
  const { rows } = await database.query<{ id: number; keys: number }>(
    'select id, (select count(*) from index_1.deletion where word_id = id) as keys from index_1.word where word = $1',
    [word],
  );
  return rows[0];
}

async function findDifferences(): Promise<Difference[]> {
  const differences: Difference[] = [];
  await checkIndex(database, indexFormats, { onDifference: (each) => void differences.push(each) });
  return differences;
}

describe('a sweep of the dictionary', () => {
  it('deletes words that no document has any more, with their keys for typing errors, and leaves the others', async () => {
    await write(({ apply }) => apply(named('c', 'zinnia tulip')));
    const tulip = await findWord('tulip');
    expect((await findWord('zinnia'))?.keys).toBeGreaterThan(5);
    await write(({ apply }) => apply(named('c', 'tulip')));
    await sweep();
    expect(await findWord('zinnia')).toBeUndefined();
    expect(await findWord('tulip')).toEqual(tulip);
    const { rows } = await database.query(
      'select from index_1.deletion where not exists (select from index_1.word where id = word_id)',
    );
    expect(rows).toHaveLength(0);
    expect(await findDifferences()).toEqual([]);
  });

  it('comes after a walk of compaction', async () => {
    await write(({ apply }) => apply(named('c', 'zinnia')));
    await write(({ apply }) => apply(named('c', 'tulip')));
    await until(async () => {
      await write(({ apply }) => apply(named('d', `rose ${randomInt(1_000)}`)));
      await walkLists(database, generation, signal);
      return (await findWord('zinnia')) === undefined;
    }, 'the word to go');
    expect(await findWord('tulip')).toBeDefined();
  });

  it.each(['new', 'known'])(
    'leaves a word to a transaction that has read its number for a %s catalog, and deletes others later',
    async (kind) => {
      await write(({ apply }) => apply(named('c', 'zinnia iris')));
      if (kind === 'known') await write(({ apply }) => apply(named('d', 'rose')));
      const zinnia = await findWord('zinnia');
      await write(({ apply }) => apply(named('c', 'tulip')));
      await write(async ({ apply }) => {
        await apply(named('d', 'zinnia'));
        expect(await sweep()).toBe(0);
        expect(await findWord('iris')).toBeDefined();
      });
      expect(await sweep()).toBeGreaterThan(0);
      expect(await findWord('iris')).toBeUndefined();
      expect(await findWord('zinnia')).toEqual(zinnia);
      expect(await findDifferences()).toEqual([]);
    },
  );

  it('leaves a word that somebody brings again after it was found to be unused', async () => {
    await write(({ apply }) => apply(named('c', 'zinnia')));
    const zinnia = await findWord('zinnia');
    await write(({ apply }) => apply(named('c', 'tulip')));
    const transaction: Database['transaction'] = async (work, options) => {
      await write(({ apply }) => apply(named('d', 'zinnia')));
      return database.transaction(work, options);
    };
    await sweepWords({ ...database, transaction }, generation);
    expect(await findWord('zinnia')).toEqual(zinnia);
    expect(await findDifferences()).toEqual([]);
  });

  it('loses no word that transactions take away and bring again at the same time', async () => {
    const words = ['zinnia', 'tulip', 'rose', 'daisy', 'lily', 'orchid'];
    const draw = () => words.filter(() => randomInt(3) === 0).join(' ') || 'fern';
    let isOver = false;
    let deleted = 0;
    const sweeps = (async () => {
      while (!isOver) deleted += await sweep();
    })();
    const writers = ['c', 'd', 'e', 'f'].map(async (id) => {
      for (let round = 0; round < 60; round++)
        await write<unknown>(({ apply, remove }) =>
          randomInt(4) === 0 ? remove([refOf(id)]) : apply(named(id, draw(), draw())),
        );
    });
    await Promise.all(writers);
    isOver = true;
    await sweeps;
    expect(deleted).toBeGreaterThan(0);
    expect(await findDifferences()).toEqual([]);
  });

  it('deletes the numbers of paths under which no geometry is left, unless somebody has just read one', async () => {
    const placed = (path: string) =>
      named('c', 'zinnia').map((each) => ({
        ...each,
        catalog: catalog('c', {
          resources: [{ ...plain('c1'), [path]: { type: 'Point', coordinates: [10, 50] } }],
        }),
      }));
    const findPaths = async () =>
      (await database.query<{ path: string }>('select path from index_1.geometry_path')).rows.map(
        ({ path }) => path,
      );
    await write(({ apply }) => apply(placed('here')));
    await write(({ apply }) => apply(placed('there')));
    expect(await findPaths()).toHaveLength(2);
    await write(async ({ apply }) => {
      await apply(placed('here'));
      let attempts = 0;
      const transaction: Database['transaction'] = (work, options) =>
        database.transaction((tx) => {
          attempts++;
          return work(tx);
        }, options);
      expect(await sweepPaths({ ...database, transaction }, 'index_1')).toBe(0);
      // Others wait behind each attempt.
      expect(attempts).toBe(1);
    });
    expect(await findDifferences()).toEqual([]);
    expect(await sweepPaths(database, 'index_1')).toBe(1);
    expect(await findPaths()).toEqual([expect.stringContaining('here')]);
    expect(await findDifferences()).toEqual([]);
  });
});
