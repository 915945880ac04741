import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database/database.ts';
import { silentLogger } from '../logger.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';

let home: TestDatabase;
let directory: string;

beforeAll(async () => {
  home = await createTestDatabase();
});

beforeEach(async () => {
  await query('drop schema if exists work cascade; drop schema public cascade; create schema public');
  directory = await mkdtemp(join(tmpdir(), 'signpost-migrations-'));
  await write('0001-first.sql', 'create table fruit (name text); insert into fruit values ($$apple$$)');
});

afterEach(() => rm(directory, { recursive: true }));
afterAll(() => home.drop());

describe('migrations', () => {
  it('run in order, once, however many processes start at the same moment', async () => {
    await write('0002-second.sql', "insert into fruit values ('pear')");
    await Promise.all([run(), run(), run()]);
    await write('0003-third.sql', "update fruit set name = name || '!'");
    await run();
    expect(await query('select name from fruit')).toEqual([{ name: 'apple!' }, { name: 'pear!' }]);
    expect(await query('select number from work.migration')).toEqual([
      { number: 1 },
      { number: 2 },
      { number: 3 },
    ]);
  });

  it('leave nothing of one that fails, and say which it was', async () => {
    await write('0002-second.sql', 'create table half (id int); select 1 / 0');
    await expect(run()).rejects.toThrow('Migration 0002-second.sql failed: division by zero');
    expect(await query("select to_regclass('half') as half")).toEqual([{ half: null }]);
    await write('0002-second.sql', 'create table half (id int)');
    await run();
  });

  it.each([
    ['with another text', '0001-first.sql', []],
    ['with another number', '0002-second.sql', ['0003-third.sql']],
    ['with another text, and more of them', '0001-first.sql', ['0250-last.sql']],
  ])(
    'refuse a database that an unreleased version made, %s, and say what to do',
    async (_how, changed, more) => {
      for (const name of [changed, ...more]) await write(name, 'select 1');
      await run();
      for (const name of [changed, ...more]) await rm(join(directory, name));
      await write('0001-first.sql', 'create table fruit (name text)');
      await write('0004-fourth.sql', 'create table vegetable (name text)');
      await expect(run()).rejects.toThrow(
        /^PostgreSQL at .* was made by an unreleased version of signpost \(its 000\d-\w+\.sql is different\), and cannot be upgraded\. Set DATA_DIR to a new directory, or DATABASE_URL to an empty database; then register, publish and crawl again\.$/,
      );
      expect(await query("select to_regclass('vegetable') as vegetable")).toEqual([{ vegetable: null }]);
    },
  );

  it('are refused by an older version than the one that applied them', async () => {
    await write('0002-second.sql', 'select 1');
    await run();
    await rm(join(directory, '0002-second.sql'));
    await expect(run()).rejects.toThrow(/was migrated to 0002-second.sql by a later version/);
  });

  it.each(['1-short.sql', '0001-twice.sql', 'unnumbered.sql'])(
    'need a name like the others: %s',
    async (name) => {
      await write(name, 'select 1');
      await expect(run()).rejects.toThrow('NNNN-name.sql');
    },
  );
});

it('a release with a further migration upgrades a database while a process of the release before uses it', async () => {
  const used = await createTestDatabase();
  const before = await openDatabase({ url: used.url, logger: silentLogger() });
  const store = (receiver: string) =>
    before.query(
      "insert into work.receiver_form (receiver, form, until) values ($1, 'plain', now() + interval '1 hour')",
      [receiver],
    );
  try {
    await store('one');
    await cp(new URL('../../migrations/', import.meta.url), directory, { recursive: true });
    await rm(join(directory, '0001-first.sql'));
    await write(
      '9000-next.sql',
      "alter table work.receiver_form add column note text not null default 'none'",
    );
    await migrate({ ...used, logger: silentLogger(), directory: pathToFileURL(`${directory}/`) });
    await store('two');
    expect((await before.query('select receiver, note from work.receiver_form order by 1')).rows).toEqual([
      { receiver: 'one', note: 'none' },
      { receiver: 'two', note: 'none' },
    ]);
    await expect(migrate({ ...used, logger: silentLogger() })).rejects.toThrow(
      /was migrated to 9000-next.sql by a later version/,
    );
  } finally {
    await before.close();
    await used.drop();
  }
});

function write(name: string, text: string): Promise<void> {
  return writeFile(join(directory, name), text);
}

function run(): Promise<unknown> {
  return migrate({ url: home.url, logger: silentLogger(), directory: pathToFileURL(`${directory}/`) });
}

async function query(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}
