import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import {
  type IndexFormat,
  type IndexFormats,
  indexFormats,
  newestOf,
} from '../../src/search/entries/index-format.ts';
import { createSearch, maintainIndex } from '../../src/search/port.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { createTestDatabase } from '../support/database/database.ts';
import type { Body } from '../support/network/actor.ts';
import { filter } from '../support/network/discover.ts';
import { endWithUs } from '../support/processes/child-process.ts';
import { applyByChanges } from '../support/search/by-the-book.ts';
import { sampleIndex } from '../support/values/arbitrary-index.ts';
import type { Outcome } from './fault-run.ts';

// An index that processes of a later version rebuild in steps of one document, while searches continue.

/** Adds a later version, in which facts and numbers have other lists. The processes run the text of this function, so it must be self-contained. */
function addLater(known: IndexFormats): IndexFormats {
  const newest = known[known.length - 1] as IndexFormat;
  const other = (hash: number) => (hash + 2) % 2 ** 53;
  const attributes: IndexFormat['attributes'] = {
    ...newest.attributes,
    entries(document, level) {
      const { facts, numbers, objects } = newest.attributes.entries(document, level);
      return {
        facts: new Set(Array.from(facts, other)),
        numbers: new Map(Array.from(numbers, ([path, values]) => [other(path), values])),
        objects,
      };
    },
    valueFact: (path, value) => other(newest.attributes.valueFact(path, value)),
    presenceFact: (path) => other(newest.attributes.presenceFact(path)),
    numberPath: (path) => other(newest.attributes.numberPath(path)),
  };
  return [...known, { ...newest, version: newest.version + 1, attributes }];
}

const formats = addLater(indexFormats);
/** Last lines of the log of a process that failed. */
const shownLines = 15;
/** Some offers of the index apply only at some hours of some days, and only then do their words count: searches at two moments may find different resources. */
const at = new Date('2026-11-17T11:30:00Z');
/** Both versions make the same words, so that searches find the same in the same order. */
const searches: Body[] = [
  ...['teas', 'greens tea', 'green', 'the blacks'].map((textSearch) => ({ intent: { textSearch } })),
  ...['@.id == "r1"', '@.id == "r4"', '@.c.b >= 0', '@.a == "ab"'].map((condition) =>
    filter(`$.catalogs[*].resources[?${condition}]`),
  ),
];

export interface OutdatedIndex {
  /** The number of searches, which all found something before the rebuild. */
  searches: number;
  /** How many of them find something else now. */
  countDiffering(): Promise<number>;
  startRebuilding(): RebuildingProcess;
  /** Compares the index with the documents: a missing entry counts as lost, an additional one as applied twice. */
  compare(total: Outcome): Promise<void>;
  close(): Promise<void>;
}

export async function createOutdatedIndex(): Promise<OutdatedIndex> {
  const home = await createTestDatabase();
  const database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
  await applyByChanges(database, sampleIndex());
  const threads = createThreadPool({ size: 1, logger: silentLogger() });
  const service = createSearch({ config: readConfig({}), database, threads, formats, now: () => at });
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
      const { rowCount } = await database.query(
        "select from discovery.generation where state = 'in use' and version <> $1",
        [newestOf(formats).version],
      );
      total.lost += rowCount;
      await maintainIndex(database, formats).check({
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
  /** Resolves when it has ended or was killed. */
  ended: Promise<unknown>;
}

/** A process that rebuilds, from the built files, and reports every step. It retries documents that another process is writing. */
function startRebuilding(url: string): RebuildingProcess {
  const built = (file: string) => JSON.stringify(new URL(`../../dist/${file}`, import.meta.url).href);
  const script = `
    import { openDatabase } from ${built('storage/database.js')};
    import { silentLogger } from ${built('logger.js')};
    import { indexFormats } from ${built('search/entries/index-format.js')};
    import { beginGeneration, buildNext, switchTo } from ${built('search/upkeep/build.js')};
    const database = await openDatabase({ url: ${JSON.stringify(url)}, logger: silentLogger(), maxConnections: 3 });
    ${addLater}
    const formats = addLater(indexFormats);
    await beginGeneration(database, formats, { isForVersion: true });
    const { rows } = await database.query("select number from discovery.generation where state = 'building'");
    const one = { documents: 1, catalogs: 1 };
    for (let isDone = rows.length === 0; !isDone; ) {
      console.log('step');
      const step = await database.transaction((tx) => buildNext(tx, formats, rows[0].number, one));
      isDone = !step && (await database.transaction((tx) => switchTo(tx, rows[0].number)));
    }
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
  // After its whole log. A killed process has no exit code.
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
