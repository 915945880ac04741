import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database/database.ts';
import { findInstalledPostgres, startInstalledPostgres } from '../support/database/installed-postgres.ts';
import { resourceIds, startDiscovering } from '../support/network/discover.ts';

// Databases of releases, upgraded to this version: each dump in tests/fixtures/releases, and a dump of this version by the release script, with an
// additional migration.

const run = promisify(execFile);
const releases = join('tests', 'fixtures', 'releases');

describe('the database of a release', () => {
  const dumps = readdir(releases).catch(() => []);

  it('is upgraded, and what it has is found, for every release', async () => {
    for (const name of await dumps) {
      const database = await load(join(releases, name));
      await migrate({ url: database.url, logger: silentLogger() });
      await expectDemo(database);
    }
  });
});

describe('a dump that the release script makes (needs PostgreSQL of the system)', () => {
  const programs = findInstalledPostgres();
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'signpost-upgrade-'));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it.skipIf(programs === undefined)(
    'is upgraded by a further migration, and what it has is found',
    async () => {
      const server = await startInstalledPostgres(programs ?? '');
      try {
        const DATABASE_URL = await server.create('filled');
        const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, DATABASE_URL };
        const script = resolve('scripts/release.mjs');
        const dump = () => run(process.execPath, [script, '99.0.0', '--dump'], { cwd: home, env });
        await cp('package.json', join(home, 'package.json'));
        await dump();
        await expect(dump()).rejects.toThrow('DATABASE_URL names is not empty');
      } finally {
        await server.close();
      }
      const database = await load(join(home, releases, '99.0.0.sql.gz'));
      await cp('migrations', join(home, 'migrations'), { recursive: true });
      const further = "alter table work.receiver_form add column note text not null default 'none'";
      await writeFile(join(home, 'migrations', '9000-next.sql'), further);
      const directory = pathToFileURL(`${join(home, 'migrations')}/`);
      await migrate({ url: database.url, logger: silentLogger(), directory });
      const names = await ask(database, 'select name from work.migration order by number');
      expect(names.map(({ name }) => name)).toEqual((await readdir(join(home, 'migrations'))).sort());
      // This version does not know the additional migration.
      await ask(database, 'delete from work.migration where number = 9000');
      await expectDemo(database);
    },
  );
});

async function load(file: string): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await ask(database, gunzipSync(await readFile(file)).toString());
  return database;
}

async function ask({ url }: TestDatabase, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

/** The demo network has registered the usual ids, but their keys are gone. */
const settings = {
  CATALOG_ID: 'later-catalog.signpost.test',
  DISCOVERY_ID: 'later-discovery.signpost.test',
  PUBLISHER_ID: 'later-publisher.signpost.test',
  CONSUMER_ID: 'later-consumer.signpost.test',
};

/** Starts the roles on it, searches it, and drops it. */
async function expectDemo(database: TestDatabase): Promise<void> {
  const { network, found } = await startDiscovering({ database, settings });
  try {
    expect(resourceIds(await found({ intent: { textSearch: 'charger' } })).length).toBeGreaterThan(0);
  } finally {
    await network.close();
  }
}
