import fc from 'fast-check';
import { beforeEach, expect, it } from 'vitest';
import { catalog } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { runs } from '../../../tests/support/reproducible.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { until } from '../../../tests/support/time.ts';
import type { Transaction } from '../../storage/database.ts';
import { lookupOf, valueFact } from '../entries/attributes.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { lastNumbers, numberOf } from '../keys.ts';
import { openLists } from '../lists/read-lists.ts';
import { checkIndex, type Difference } from '../upkeep/check.ts';
import { walkLists } from '../upkeep/walk-lists.ts';
import { type IndexWriter, writeIndex } from './write-index.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

const ref = { source: 'node', owner: 'o', id: 'c' };
const now = new Date('2026-06-01T12:00:00Z');

beforeEach(() => write((_tx, { remove }) => remove([ref])));

function write(work: (tx: Transaction, writer: IndexWriter) => Promise<unknown>): Promise<unknown> {
  return database.transaction((tx) => writeIndex(tx, now, (writer) => work(tx, writer)));
}

/** A resource of each colour. */
function coloured(...colours: string[]) {
  const resources = colours.map((colour, index) => ({
    id: `r${index}`,
    descriptor: { name: 'Thing' },
    colour,
  }));
  const from = { source: 'node', owner: 'o', type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  return [{ ...from, catalog: catalog('c', { resources }) }];
}

/** Between the documents and their index. */
async function findDifferences(): Promise<Difference[]> {
  const differences: Difference[] = [];
  await checkIndex(database, indexFormats, { onDifference: (each) => void differences.push(each) });
  return differences;
}

async function countOf(colour: string): Promise<number> {
  const list = valueFact(lookupOf([{ name: 'colour' }], 'resource').path, colour);
  return (await openLists(database, [list])).get(list)?.count ?? 0;
}

it('a document that changes and changes back in one unit of work stands in the lists as it is in the end', async () => {
  await write((_tx, { apply }) => apply(coloured('red', 'red', 'red')));
  await write(async (_tx, { apply }) => {
    await apply(coloured('green', 'green', 'green'));
    await apply(coloured('green', 'red', 'green'));
  });
  expect([await countOf('red'), await countOf('green')]).toEqual([1, 2]);
});

it('two transactions that bring the same new catalog at the same time leave one catalog, as the later one says', async () => {
  const arrived = { first: false, second: false };
  const bring = (mine: keyof typeof arrived, colour: string) =>
    write(async (_tx, { hold, apply }) => {
      await hold([ref]);
      arrived[mine] = true;
      // Neither has a row yet.
      await until(() => arrived.first && arrived.second, 'both hold it');
      await apply(coloured(colour));
    });
  await Promise.all([bring('first', 'red'), bring('second', 'green')]);
  const { rows } = await database.query<{ colour: string }>(
    "select document ->> 'colour' as colour from discovery.resource",
  );
  expect(rows).toHaveLength(1);
  const { rows: catalogs } = await database.query('select from discovery.catalog');
  expect(catalogs).toHaveLength(1);
  expect([await countOf('red'), await countOf('green')].sort()).toEqual([0, 1]);
  expect(await findDifferences()).toEqual([]);
});

it('the index is as the documents are, however often a unit of work writes and removes the same catalog', async () => {
  const colours = fc.array(fc.constantFrom('red', 'green', 'blue'), { maxLength: 4 });
  const unit = fc.array(fc.option(colours), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 3 }), async (units) => {
      for (const steps of units) {
        await write(async (_tx, { apply, remove }) => {
          for (const step of steps) await (step ? apply(coloured(...step)) : remove([ref]));
        });
        expect(await findDifferences()).toEqual([]);
      }
    }),
    { numRuns: runs(20) },
  );
});

it('a document that gets the key of one that has gone in the same unit of work stands in its lists', async () => {
  const reds = coloured('red', 'red', 'red', 'red', 'red')[0]?.catalog.resources ?? [];
  const green = coloured('green')[0]?.catalog.resources ?? [];
  const withResources = (resources: typeof reds) =>
    coloured().map((each) => ({ ...each, catalog: { ...each.catalog, resources } }));
  await write((_tx, { apply }) => apply(withResources(reds.slice(0, 4))));
  await write(async (tx, { apply }) => {
    await apply(withResources([...green, ...reds.slice(2, 4)]));
    // The next catalog with a new resource has no number left for it.
    await tx.query('update discovery.catalog set next_resource = $1', [lastNumbers.resource + 1]);
    await apply(withResources([...green, ...reds.slice(2)]));
  });
  const { rows } = await database.query<{ key: number }>('select key from discovery.resource order by key');
  expect(rows.map(({ key }) => numberOf(key))).toEqual([1, 2, 3, 4]);
  expect(await findDifferences()).toEqual([]);
  expect([await countOf('red'), await countOf('green')]).toEqual([3, 1]);
});

it('resources of a bulk load stand in shared runs by facts that are theirs alone, and leave them as they change and go', async () => {
  const colours = Array.from({ length: 1_200 }, (_, index) => `colour ${index}`);
  const changed = colours.map((colour, index) => (index % 3 === 0 ? `new ${colour}` : colour));
  await write((_tx, { apply }) => apply(coloured(...colours)));
  const { rows } = await database.query('select from index_1.run where list >= 0');
  // The five facts that all of them have, in four runs each.
  expect(rows).toHaveLength(20);
  expect(await findDifferences()).toEqual([]);
  for (const step of ['as written', 'changed', 'compacted', 'fewer']) {
    if (step === 'changed') await write((_tx, { apply }) => apply(coloured(...changed)));
    if (step === 'compacted')
      await walkLists(
        database,
        { number: 1, index: 'index_1', format: newestOf(indexFormats) },
        new AbortController().signal,
      );
    if (step === 'fewer') await write((_tx, { apply }) => apply(coloured(...changed.slice(0, 600))));
    expect(await findDifferences()).toEqual([]);
    expect(await countOf('colour 1')).toBe(1);
    expect(await countOf('colour 3')).toBe(step === 'as written' ? 1 : 0);
    expect(await countOf('new colour 3')).toBe(step === 'as written' ? 0 : 1);
  }
  await write((_tx, { remove }) => remove([ref]));
  expect((await database.query('select from index_1.run')).rows).toEqual([]);
});

it('two transactions that bring the same new paths do not wait for each other', async () => {
  const newborn = { location: { geo: { type: 'Point', coordinates: [7, 50] } } };
  const resources = [{ id: 'r', descriptor: { name: 'Thing' }, newborn }];
  const bringing = (id: string) =>
    coloured().map((each) => ({ ...each, catalog: catalog(id, { resources }) }));
  await write(async (_tx, { apply }) => {
    await apply(bringing('c'));
    await write(async (tx, other) => {
      await tx.query("set local lock_timeout = '5s'");
      await other.apply(bringing('d'));
    });
  });
  const { rows } = await database.query<{ documents: number }>(
    "select count(*) as documents from index_1.geometry join index_1.geometry_path on id = path_id where path like '%newborn%'",
  );
  expect(rows).toEqual([{ documents: 2 }]);
});

it('takes what leaves lists out of them as the last thing, also where a catalog is written twice: until then nobody waits', async () => {
  await write((_tx, { apply }) => apply(coloured('red', 'red')));
  let held: number | undefined;
  await write(async (tx, { apply }) => {
    await apply(coloured('green', 'red'));
    await apply(coloured('green', 'green'));
    const { rows } = await tx.query<{ held: number }>(
      `select count(*) as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
    );
    held = rows[0]?.held;
  });
  // Only that of the generations.
  expect(held).toBe(1);
  expect([await countOf('red'), await countOf('green')]).toEqual([0, 2]);
});
