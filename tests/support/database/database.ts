import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { silentLogger } from '../../../src/logger.ts';
import { type Database, openDatabase } from '../../../src/storage/database.ts';
import { until } from '../time.ts';

/** A separate open database for the tests that follow, passed before the first of them; empties the `emptied` tables before each. */
export function useDatabase(take: (database: Database) => void, options: { emptied?: string } = {}): void {
  let home: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    home = await createTestDatabase();
    database = await openDatabase({ url: home.url, logger: silentLogger() });
    take(database);
  });
  beforeEach(async () => {
    if (options.emptied) await database.query(`truncate ${options.emptied}`);
  });
  afterAll(async () => {
    await database.close();
    await home.drop();
  });
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A new, migrated database on the run's server (see database-server.ts). */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(copyTemplate);
}

/** A new database without migrations. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create((server, name) => asAdmin(server, `create database ${name}`));
}

async function create(make: (server: string, name: string) => Promise<void>): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `signpost_test_${randomBytes(6).toString('hex')}`;
  await make(server, name);
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    drop: () => asAdmin(server, `drop database if exists ${name} with (force)`),
  };
}

/** Two files cannot copy the template at the same moment, so the second retries. */
async function copyTemplate(server: string, name: string): Promise<void> {
  await until(async () => {
    try {
      await asAdmin(server, `create database ${name} template ${inject('templateDatabase')}`);
      return true;
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === '55006') return false;
      throw error;
    }
  }, 'the template to be free');
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
