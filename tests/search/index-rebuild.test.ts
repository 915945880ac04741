import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { type IndexFormats, indexFormats } from '../../src/search/entries/index-format.ts';
import { announceProcess } from '../../src/search/generations/processes.ts';
import { createSearch, maintainIndex, type SearchService, writeIndex } from '../../src/search/port.ts';
import { beginGeneration, buildNext, buildOutdated, switchTo } from '../../src/search/upkeep/build.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';
import { applyByChanges, compare } from '../support/search/by-the-book.ts';
import type { Question } from '../support/search/discover-oracle.ts';
import { readIndexContent } from '../support/search/index-content.ts';
import { arbitraryNow, arbitraryQuestion, sampleIndex } from '../support/values/arbitrary-index.ts';

// Another generation of the index, with other hashes, is built beside the one in use. Searches always find the same as a plain evaluation.

/** Both make the same words, so the oracle need not know which one a search reads. */
function addLater(known: IndexFormats): IndexFormats {
  const newest = known.at(-1) ?? known[0];
  const other = (hash: number) => (hash + 2) % 2 ** 53;
  const { attributes } = newest;
  return [
    ...known,
    {
      ...newest,
      version: newest.version + 1,
      attributes: {
        ...attributes,
        entries(document, level) {
          const { facts, numbers, objects } = attributes.entries(document, level);
          return {
            facts: new Set(Array.from(facts, other)),
            numbers: new Map(Array.from(numbers, ([path, values]) => [other(path), values])),
            objects,
          };
        },
        valueFact: (path, value) => other(attributes.valueFact(path, value)),
        presenceFact: (path) => other(attributes.presenceFact(path)),
        numberPath: (path) => other(attributes.numberPath(path)),
      },
    },
  ];
}

const formats = addLater(indexFormats);
const one = { documents: 1, catalogs: 1 };
const drawn = fc.sample(arbitraryQuestion, { seed: 20_261_116, numRuns: 12 });
/** Filters that are answered from lists of facts and columns. */
const filters: Question[] = ['@.id == "r1"', '@.id == "r4"', '@.c.b >= 0', '@.a == "ab"'].map(
  (condition) => ({
    intent: { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } },
    now: arbitraryNow,
  }),
);

let home: TestDatabase;
let database: Database;
let threads: ThreadPool;
let service: SearchService;
beforeEach(async () => {
  home = await createTestDatabase();
  const logger = silentLogger();
  database = await openDatabase({ url: home.url, logger, maxConnections: 6 });
  await applyByChanges(database, sampleIndex());
  threads = createThreadPool({ size: 1, logger });
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` });
  service = createSearch({ config, database, threads, formats, now: () => arbitraryNow });
});
afterEach(async () => {
  await threads.close();
  await database.close();
  await home.drop();
});

async function askAll(): Promise<void> {
  for (const question of [...filters, ...drawn]) await compare(service, sampleIndex(), question);
}

async function readStates(): Promise<string[]> {
  const { rows } = await database.query<{ state: string }>(
    "select number || ' ' || state as state from discovery.generation order by number",
  );
  return rows.map(({ state }) => state);
}

async function check(): Promise<object[]> {
  const found: object[] = [];
  await maintainIndex(database, formats).check({ onDifference: (difference) => void found.push(difference) });
  return found;
}

describe('another generation of the index', () => {
  it('is begun when no process of an older version is left, and read when all catalogs are in it; searches are exact all the time', async () => {
    const context = { database, logger: silentLogger(), formats, graceMs: 0 };
    const { signal } = new AbortController();
    const older = await announceProcess({ database, logger: silentLogger() }, indexFormats);
    await buildOutdated(context, signal);
    expect(await readStates()).toEqual(['1 in use']);
    await older.close();

    await beginGeneration(database, formats, { isForVersion: true });
    expect(await readStates()).toEqual(['1 in use', '2 building']);
    for (let steps = 0; await database.transaction((tx) => buildNext(tx, formats, 2, one)); steps++) {
      if (steps % 4 > 0) continue;
      await askAll();
      expect(await check()).toEqual([]);
    }
    expect(await database.transaction((tx) => switchTo(tx, 2))).toBe(true);
    expect(await readStates()).toEqual(['1 retired', '2 in use']);
    await askAll();
    expect(await check()).toEqual([]);

    await buildOutdated(context, signal);
    expect(await readStates()).toEqual(['2 in use']);
    await expect(database.query('select from index_1.run')).rejects.toThrow('does not exist');
    await askAll();
  });

  it('gets what is written while it is built, by catalogs that are in it and by those that are not yet', async () => {
    await beginGeneration(database, formats, { isForVersion: true });
    const changes = sampleIndex();
    const write = async (position: number) => {
      const known = changes[position % changes.length];
      if (known === undefined) return;
      const incoming = {
        ...{ source: 'service:test', owner: known.owner, networks: known.networkIds, type: known.type },
        ...{ catalog: known.catalog, mode: 'FULL' as const },
      };
      const other = { ...incoming, catalog: { ...known.catalog, resources: [{ id: `new-${position}` }] } };
      for (const each of [other, incoming])
        await database.transaction((tx) =>
          writeIndex(tx, arbitraryNow, ({ apply }) => apply([each]), formats),
        );
    };
    for (let step = 0; await database.transaction((tx) => buildNext(tx, formats, 2, one)); step++) {
      await write(step);
      await write(changes.length - step);
      expect(await check()).toEqual([]);
    }
    expect(await database.transaction((tx) => switchTo(tx, 2))).toBe(true);
    await askAll();
    expect(await check()).toEqual([]);
  });

  it('is built by hand, with the same entries', async () => {
    const before = await readIndexContent(database);
    const { documents } = await maintainIndex(database).rebuild();
    expect(documents).toBeGreaterThan(10);
    expect(await readStates()).toEqual(['1 retired', '2 in use']);
    expect(await readIndexContent(database, 'index_2')).toEqual(before);
  });
});
