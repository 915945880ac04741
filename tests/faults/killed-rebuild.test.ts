import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { indexFormats, newestOf } from '../../src/search/format/index-format.ts';
import { createSearch, maintainIndex } from '../../src/search/port.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import type { Body } from '../support/actor.ts';
import { endWithUs } from '../support/child-process.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { filter } from '../support/discover.ts';
import { migrateUntil } from '../support/old-schema.ts';
import { takeTime, until } from '../support/time.ts';
import { type FaultRun, faultOptions, type Outcome, strikes, times } from './fault-run.ts';

// An index of an older version is rebuilt in steps of one document by processes that are killed, one after the other. After every kill, filters find what they found before;
// at the end the index is what the documents make of it: an entry that is missing is lost, and one too many was applied twice.

const lastBefore = 22;
const fixture = new URL('../fixtures/index-version-0.sql', import.meta.url);
/** What filters find is the same in every version. Ranks of texts may differ between versions, so the first page of a text may, too. */
const filters = ['@.id == "r1"', '@.id == "r4"', '@.c.b >= 0', '@.a == "ab"'].map(
  (condition) => filter(`$.catalogs[*].resources[?${condition}]`) as Body,
);
const maxSteps = 12;

it(
  'a rebuild of the index that is killed at any moment changes no answer, and the next process goes on from there',
  faultOptions,
  strikes('SIGKILL during an index rebuild', killRebuilds, { isKill: true }),
);

async function killRebuilds(run: FaultRun): Promise<Outcome> {
  const total = { acknowledged: 0, lost: 0, appliedTwice: 0 };
  for (let left = times(3, 40); left > 0; ) {
    const home = await restoreOldIndex();
    const database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
    const threads = createThreadPool({ size: 1, logger: silentLogger() });
    const service = createSearch({ config: readConfig({}), database, threads, now: () => new Date() });
    const find = () =>
      Promise.all(
        filters.map(async (message) => {
          const { answer } = await service.search({ message, scope: {} });
          return (JSON.parse(answer.catalogs) as Catalog[])
            .flatMap(({ id, resources = [] }) => resources.map((resource) => `${id} ${resource.id}`))
            .sort();
        }),
      );
    try {
      const before = (await find()).flat();
      let killedAt: number | undefined;
      for (let isDone = false; !isDone; ) {
        const rebuilding = startRebuilding(home.url);
        const steps = left > 0 ? run.between(0, maxSteps) : Number.POSITIVE_INFINITY;
        if (killedAt !== undefined)
          await run.recover(killedAt, () => until(() => rebuilding.steps() > 0, 'the rebuild to go on'));
        await until(() => rebuilding.steps() >= steps || rebuilding.isDone(), 'the rebuild');
        if (left > 0) await takeTime(run.between(0, 5));
        isDone = rebuilding.isDone();
        await rebuilding.kill();
        killedAt = performance.now();
        if (!isDone) run.count();
        left -= 1;
        const after = new Set((await find()).flat());
        total.lost += before.filter((id) => !after.has(id)).length;
      }
      total.acknowledged += before.length;
      await compareIndex(database, total);
    } finally {
      await threads.close();
      await database.close();
      await home.drop();
    }
  }
  return total;
}

async function compareIndex(database: Database, total: Outcome): Promise<void> {
  const { rowCount } = await database.query('select from discovery.catalog where index_version <> $1', [
    newestOf(indexFormats).version,
  ]);
  total.lost += rowCount;
  await maintainIndex(database, indexFormats).check({
    onDifference({ kind }) {
      if (kind === 'surplus') total.appliedTwice += 1;
      else total.lost += 1;
    },
  });
}

async function restoreOldIndex(): Promise<TestDatabase> {
  const home = await createEmptyDatabase();
  await migrateUntil(lastBefore, home.url);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  await client.query(readFileSync(fixture, 'utf8')).finally(() => client.end());
  return home;
}

/** A process that rebuilds, from the built files, and tells every step. */
function startRebuilding(url: string) {
  const built = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);
  const script = `
    import { openDatabase } from ${built('storage/database.js')};
    import { silentLogger } from ${built('logger.js')};
    import { indexFormats } from ${built('search/format/index-format.js')};
    import { advanceVersion } from ${built('search/reindex/index-state.js')};
    import { rebuildNext } from ${built('search/reindex/rebuild.js')};
    const database = await openDatabase({ url: ${JSON.stringify(url)}, logger: silentLogger(), maxConnections: 3 });
    await advanceVersion(database, indexFormats, { graceMs: 0 });
    const { version } = await advanceVersion(database, indexFormats, { graceMs: 0 });
    do console.log('step'); while (await rebuildNext(database, indexFormats, version, 1));
    console.log('done');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  const exited = once(child, 'exit');
  const told: string[] = [];
  createInterface(child.stdout).on('line', (line) => told.push(line));
  return {
    steps: () => told.length,
    isDone: () => told.includes('done'),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
