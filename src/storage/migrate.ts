import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { checkClients, describeServer } from './connection.ts';
import { connectFirst, type FirstConnectionOptions, plainReason } from './first-connection.ts';
import { refusePooler } from './refuse-pooler.ts';

// Migrates a database to the schema of this version: migrations/NNNN-name.sql in the order of their numbers, forward only, each in a separate
// transaction, all under one lock, so that any number of processes may start at once. The files of a release never change. Before the first release
// they do, and a database with other files is refused.

const migrationsDirectory = new URL('../../migrations/', import.meta.url);
const oldestServer = 14;
/** Any constant, as long as it stays the same: the key of the advisory lock. */
const migrationLock = 7_206_113_001;

/** Throws a plain sentence if the server cannot be reached or is too old, or if its tables belong to another version. */
export async function migrate(options: FirstConnectionOptions & { directory?: URL }): Promise<Server> {
  const { url, logger, directory = migrationsDirectory } = options;
  const migrations = await readMigrations(directory);
  const client = await connectFirst(options);
  try {
    await checkServer(client, url);
    await refusePooler(client, url);
    const checksClients = await checkClients(client);
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    const applied = await readApplied(client);
    refuseStrangers(applied, migrations, url);
    for (const migration of migrations) {
      if (applied.has(migration.number)) continue;
      await apply(client, migration);
      if (applied.size > 0) logger.info(`migrated ${describeServer(url)} to ${migration.name}`);
    }
    if (applied.size === 0) logger.info(`created the tables in ${describeServer(url)}`);
    return { checksClients };
  } finally {
    // The end of the session also releases the lock.
    await client.end();
  }
}

export interface Server {
  /** It notices during a statement that its client is gone. */
  checksClients: boolean;
}

async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, directory), 'utf8');
      return { name, number: Number.parseInt(name, 10), text, digest: hash('sha256', text) };
    }),
  );
  for (const [index, { name, number }] of migrations.entries()) {
    if (!/^\d{4}-[a-z0-9-]+\.sql$/.test(name) || migrations[index - 1]?.number === number) {
      throw new Error(
        `${fileURLToPath(directory)}${name}: a migration is named NNNN-name.sql with a unique number.`,
      );
    }
  }
  return migrations;
}

async function checkServer(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    "select current_setting('server_version_num')::int / 10000 as version",
  );
  const version = rows[0]?.version ?? 0;
  if (version < oldestServer) {
    throw new Error(`${describeServer(url)} is version ${version}; ${oldestServer} or later is needed.`);
  }
}

async function readApplied(client: pg.Client): Promise<Map<number, Applied>> {
  await client.query(`
    create schema if not exists work;
    create table if not exists work.migration (
      number int primary key,
      name text not null,
      digest text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<Applied>(
    'select number, name, digest from work.migration order by number',
  );
  return new Map(rows.map((row) => [row.number, row]));
}

function refuseStrangers(applied: Map<number, Applied>, migrations: readonly Migration[], url: string): void {
  const known = new Map(migrations.map(({ number, digest }) => [number, digest]));
  const newest = migrations.at(-1)?.number ?? 0;
  for (const { number, name, digest } of applied.values()) {
    if (known.get(number) === digest) continue;
    throw new Error(
      number > newest
        ? `${describeServer(url)} was migrated to ${name} by a later version of signpost.`
        : `${describeServer(url)} was made by an unreleased version of signpost (its ${name} is different), and cannot be upgraded. ${startAgain}`,
    );
  }
}

const startAgain =
  'Set DATA_DIR to a new directory, or DATABASE_URL to an empty database; then register, publish and crawl again.';

async function apply(client: pg.Client, { number, name, text, digest }: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(text);
    const values = [number, name, digest];
    await client.query('insert into work.migration (number, name, digest) values ($1, $2, $3)', values);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw new Error(`Migration ${name} failed: ${plainReason(error)}`, { cause: error });
  }
}

interface Applied {
  number: number;
  name: string;
  digest: string;
}

interface Migration extends Applied {
  text: string;
}
