import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { indexFormats, newestOf } from '../../src/search/format/index-format.ts';
import { createSearch, maintainIndex } from '../../src/search/port.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import type { Body } from '../support/actor.ts';
import { endWithUs } from '../support/child-process.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { filter } from '../support/discover.ts';
import { migrateUntil } from '../support/old-schema.ts';
import type { Outcome } from './fault-run.ts';

// An index of the oldest version, which processes rebuild in steps of one document while searches go on.

const lastBefore = 22;
const fixture = new URL('../fixtures/index-version-0.sql', import.meta.url);
/** Longer than a search takes: one that began before the next version was announced does not know of it. */
const graceMs = 2_000;
/** Of the log of a process that failed. */
const shownLines = 15;
/** Offers of the fixture apply at some hours of some days, and their words count then: searches at two moments may find different resources. */
const at = new Date('2026-11-17T11:30:00Z');
/** All versions make the same words and facts, so that searches find the same in the same order. */
const searches: Body[] = [
  ...['teas', 'greens tea', 'green', 'the blacks'].map((textSearch) => ({ intent: { textSearch } })),
  ...['@.id == "r1"', '@.id == "r4"', '@.c.b >= 0', '@.a == "ab"'].map((condition) =>
    filter(`$.catalogs[*].resources[?${condition}]`),
  ),
];

export interface OldIndex {
  /** How many searches were made, and found something, before anything was rebuilt. */
  searches: number;
  /** How many of them find something else now. */
  countDiffering(): Promise<number>;
  startRebuilding(): RebuildingProcess;
  /** Holds the index against the documents: an entry that is missing is lost, and one too many was applied twice. */
  compare(total: Outcome): Promise<void>;
  close(): Promise<void>;
}

export async function restoreOldIndex(): Promise<OldIndex> {
  const home = await createEmptyDatabase();
  await migrateUntil(lastBefore, home.url);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  await client.query(readFileSync(fixture, 'utf8')).finally(() => client.end());
  const database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const service = createSearch({ config: readConfig({}), database, threads, now: () => at });
  const find = () =>
    Promise.all(
      searches.map(async (message) => {
        const { answer } = await service.search({ message, scope: {} });
        return (JSON.parse(answer.catalogs) as Catalog[])
          .flatMap(({ id, resources = [] }) => resources.map((resource) => `${id} ${resource.id}`))
          .join();
      }),
    );
  const before = await find();
  return {
    searches: before.filter((found) => found !== '').length,
    async countDiffering() {
      const after = await find();
      const differing = searches.flatMap((message, index) =>
        before[index] === after[index] ? [] : [{ message, before: before[index], after: after[index] }],
      );
      if (differing.length > 0) console.error(JSON.stringify(differing, undefined, 1));
      return differing.length;
    },
    startRebuilding: () => startRebuilding(home.url),
    async compare(total) {
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
    },
    async close() {
      await threads.close();
      await database.close();
      await home.drop();
    },
  };
}

/** `steps` and `isDone` throw once it has failed, with the last lines of its log. */
export interface RebuildingProcess {
  steps(): number;
  isDone(): boolean;
  halt(): void;
  goOn(): void;
  kill(): Promise<void>;
  /** By itself, or killed. */
  ended: Promise<unknown>;
}

/** A process that rebuilds, from the built files, and tells every step. What another one is just writing, it looks at again. */
function startRebuilding(url: string): RebuildingProcess {
  const built = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);
  const script = `
    import { openDatabase } from ${built('storage/database.js')};
    import { silentLogger } from ${built('logger.js')};
    import { indexFormats, newestOf } from ${built('search/format/index-format.js')};
    import { advanceVersion } from ${built('search/reindex/index-state.js')};
    import { rebuildNext } from ${built('search/reindex/rebuild.js')};
    const database = await openDatabase({ url: ${JSON.stringify(url)}, logger: silentLogger(), maxConnections: 3 });
    const { version: newest } = newestOf(indexFormats);
    let version;
    while (version !== newest) {
      ({ version } = await advanceVersion(database, indexFormats, { graceMs: ${graceMs} }));
      await database.query('select pg_sleep(0.05)');
    }
    const isLeft = async () =>
      (await database.query('select from discovery.catalog where index_version <> $1 limit 1', [version])).rowCount > 0;
    do {
      console.log('step');
      if (!(await rebuildNext(database, indexFormats, version, 1))) await database.query('select pg_sleep(0.1)');
    } while (await isLeft());
    console.log('done');
    await database.close();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithUs(child);
  const ended = once(child, 'exit');
  const [told, log]: [string[], string[]] = [[], []];
  createInterface(child.stdout).on('line', (line) => told.push(line));
  createInterface(child.stderr).on('line', (line) => log.push(line));
  let failure: Error | undefined;
  // With all of its log. A killed process has no exit code.
  child.once('close', (code) => {
    if (code) failure = new Error(`the rebuild ended with ${code}:\n${log.slice(-shownLines).join('\n')}`);
  });
  const readTold = () => {
    if (failure) throw failure;
    return told;
  };
  return {
    steps: () => readTold().length,
    isDone: () => readTold().includes('done'),
    halt: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}
