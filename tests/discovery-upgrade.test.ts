import pg from 'pg';
import { expect, it } from 'vitest';
import { silentLogger } from '../src/logger.ts';
import { formatOf, indexFormats } from '../src/search/format/index-format.ts';
import { mergeRuns } from '../src/search/lists/compact.ts';
import { entriesOf, type StoredRun } from '../src/search/lists/runs.ts';
import { writeIndex } from '../src/search/port.ts';
import { entriesOfDocument } from '../src/search/write/document-entries.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { createEmptyDatabase, useDatabase } from './support/database.ts';
import { migrateUntil } from './support/old-schema.ts';
import { catalog, charger, offer } from './support/sample-catalogs.ts';

// A database of a released version with an index in it. Its rows are made from the documents of an index of this version.

const lastBefore = 7;
const copied = ['catalog', 'resource', 'offer', 'offer_target', 'word', 'deletion'];

let fresh: Database;
useDatabase((opened) => {
  fresh = opened;
});

it('an index of rows becomes the same lists that ingest would have written', async () => {
  await fill(fresh);
  const home = await createEmptyDatabase();
  await migrateUntil(lastBefore, home.url);
  await writeRows(home.url);
  const upgraded = await openDatabase({ url: home.url, logger: silentLogger() });
  try {
    expect(await readIndex(upgraded)).toEqual(await readIndex(fresh));
    for (const list of (await readIndex(upgraded)).lists.keys()) await mergeRuns(upgraded, list);
    expect(await readIndex(upgraded)).toEqual(await readIndex(fresh));
  } finally {
    await upgraded.close();
    await home.drop();
  }
});

async function fill(database: Database): Promise<void> {
  const catalogs = Array.from({ length: 12 }, (_, n) =>
    catalog(`c${n}`, {
      resources: [charger(`r${n}`, { price: n / 3, tags: [1, n, 'fast'] }), charger(`s${n}`, { price: 2 })],
      offers: [offer(`o${n}`, { resourceIds: [`r${n}`] })],
    }),
  );
  const incoming = catalogs.map((each) => ({
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    ...{ mode: 'FULL' as const, catalog: each },
  }));
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
}

async function writeRows(url: string): Promise<void> {
  const old = new pg.Client({ connectionString: url });
  await old.connect();
  for (const table of copied) await copyTable(old, table);
  const words = await fresh.query<{ id: number; word: string }>('select id, word from discovery.word');
  const numberOf = new Map(words.rows.map(({ id, word }) => [word, id]));
  const kinds = [
    { rows: 'select key, document from discovery.resource', kind: 'resource' as const, table: 'posting' },
    {
      rows: 'select key << 26 as key, head as document from discovery.catalog',
      kind: 'catalog' as const,
      table: 'posting',
    },
    { rows: 'select key, document from discovery.offer', kind: 'offer' as const, table: 'offer_posting' },
  ];
  for (const kind of kinds) {
    const { rows } = await fresh.query<{ key: number; document: string }>(
      `select key, document::text from (${kind.rows}) as every`,
    );
    for (const { key, document } of rows) {
      const {
        facts,
        numbers,
        words: found,
      } = entriesOfDocument(formatOf(indexFormats, 0), kind.kind, JSON.parse(document));
      for (const hash of facts) await old.query('insert into discovery.fact values ($1, $2)', [hash, key]);
      for (const [path, values] of numbers)
        for (const value of values)
          await old.query('insert into discovery.number values ($1, $2, $3)', [path, value, key]);
      for (const [word, weight] of found)
        await old.query(`insert into discovery.${kind.table} values ($1, $2, $3)`, [
          numberOf.get(word),
          key,
          Math.round(weight * 100),
        ]);
    }
  }
  await old.end();
}

/** The columns that both versions have. */
async function copyTable(old: pg.Client, table: string): Promise<void> {
  const { rows: columns } = await old.query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'discovery' and table_name = $1 and is_generated = 'NEVER' and column_name <> 'best_weight'`,
    [table],
  );
  const names = columns.map(({ name }) => name).join();
  const { rows } = await fresh.query(
    `select json_agg(every)::text as rows from (select ${names} from discovery.${table}) as every`,
  );
  await old.query(
    `insert into discovery.${table} (${names}) overriding system value
     select ${names} from json_populate_recordset(null::discovery.${table}, $1)`,
    [rows[0]?.rows],
  );
}

/** Lists by their numbers, and the words of resources and catalogs. */
async function readIndex(database: Database): Promise<{ lists: Map<number, object[]>; words: object[] }> {
  const { rows } = await database.query<StoredRun>('select * from discovery.run');
  const lists = new Map<number, object[]>();
  for (const number of rows.map(({ list }) => list).sort((a, b) => a - b)) {
    if (lists.has(number)) continue;
    const { keys, marks } = entriesOf(
      number,
      rows.filter(({ list }) => list === number),
    );
    const entries = keys.map((key, index) => ({ key, mark: marks[index] ?? 0 }));
    lists.set(
      number,
      entries.sort((a, b) => a.key - b.key || a.mark - b.mark),
    );
  }
  const words = await database.query(
    'select key, words from discovery.resource union all select key, words from discovery.catalog order by key',
  );
  return { lists, words: words.rows };
}
