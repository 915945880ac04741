import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

// The database of a release, for the test that upgrades it (tests/package/upgrade.test.ts): "signpost up" fills the empty database in DATABASE_URL
// with its demo network, and pg_dump writes it as statements, which any later PostgreSQL reads.

/** How long the demo network may take to be published, pushed and crawled. */
const patienceMs = 180_000;

export function dumpPath(version) {
  return `tests/fixtures/releases/${version}.sql.gz`;
}

export async function writeDump(version, file = dumpPath(version)) {
  const { DATABASE_URL: url } = process.env;
  if (!url)
    throw new Error('Set DATABASE_URL to an empty database of PostgreSQL, whose pg_dump is in the PATH.');
  const { dumpDatabase } = await import('../dist/cli/backup/postgres-programs.js');
  await fill(url);
  mkdirSync(dirname(file), { recursive: true });
  await dumpDatabase(url, file, ['--inserts', '--rows-per-insert=500']);
  // Removes commands of psql, which does not read this file.
  const statements = readFileSync(file, 'utf8').replaceAll(/^\\(?:un)?restrict \w+$/gm, '');
  writeFileSync(file, gzipSync(statements, { level: 9 }));
  console.log(`Wrote ${file}.`);
}

/** Runs all roles on it until the discovery service has more catalogs than the catalog service: the additional ones are crawled. */
async function fill(url) {
  const { settings } = await import('../dist/setting-table.js');
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select to_regnamespace('work') is null as empty");
  if (!rows[0].empty) {
    await client.end();
    fail('The database that DATABASE_URL names is not empty.');
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'signpost-dump-'));
  const names = Object.keys(settings).filter((name) => name.endsWith('_PORT'));
  const ports = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, `${await freePort()}`])),
  );
  const env = { PATH: process.env.PATH, DATABASE_URL: url, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...ports };
  const up = spawn(process.execPath, [join(import.meta.dirname, '../dist/cli/main.js'), 'up', '--json'], {
    ...{ env, cwd: dataDir, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const ended = once(up, 'exit');
  try {
    await Promise.race([once(up.stdout, 'data'), ended.then(() => fail('"signpost up" did not start.'))]);
    const deadline = Date.now() + patienceMs;
    const isFilled = async () =>
      (
        await client.query(
          'select (select count(*) from discovery.catalog) > (select count(*) from catalog.catalog) as so',
        )
      ).rows[0].so;
    while (!(await isFilled())) {
      if (Date.now() > deadline) fail('The demo network was not found within three minutes.');
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  } finally {
    await client.end();
    up.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function fail(why) {
  throw new Error(why);
}
