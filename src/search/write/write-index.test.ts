import { beforeEach, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/index-reader.ts';
import { catalog } from '../../../tests/support/sample-catalogs.ts';
import type { Transaction } from '../../storage/database.ts';
import { readLists } from '../lists/read-parts.ts';
import { factList } from '../lists/runs.ts';
import { valueFact } from './attribute-entries.ts';
import { type IndexWriter, writeIndex } from './write-index.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

const now = new Date('2026-06-01T12:00:00Z');

beforeEach(() => write((_tx, { remove }) => remove([{ source: 'node', owner: 'o', id: 'c' }])));

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

async function countOf(colour: string): Promise<number> {
  const list = factList(valueFact('\u0001colour', colour));
  return (await readLists(database, [list], 100)).get(list)?.keys.length ?? 0;
}

it('a document that changes and changes back in one unit of work stands in the lists as it is in the end', async () => {
  await write((_tx, { apply }) => apply(coloured('red', 'red', 'red')));
  await write(async (_tx, { apply }) => {
    await apply(coloured('green', 'green', 'green'));
    await apply(coloured('green', 'red', 'green'));
  });
  expect([await countOf('red'), await countOf('green')]).toEqual([1, 2]);
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
    "select count(*) as documents from discovery.geometry join discovery.geometry_path on id = path_id where path like '%newborn%'",
  );
  expect(rows).toEqual([{ documents: 2 }]);
});

it('takes what leaves lists out of them as the last thing: until then nobody waits', async () => {
  await write((_tx, { apply }) => apply(coloured('red')));
  let held: number | undefined;
  await write(async (tx, { apply }) => {
    await apply(coloured('green'));
    const { rows } = await tx.query<{ held: number }>(
      `select count(*) as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
    );
    held = rows[0]?.held;
  });
  expect(held).toBe(0);
  expect([await countOf('red'), await countOf('green')]).toEqual([0, 1]);
});
