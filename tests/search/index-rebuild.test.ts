import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import {
  formatOf,
  type IndexFormat,
  type IndexFormats,
  indexFormats,
  newestOf,
} from '../../src/search/format/index-format.ts';
import {
  createSearch,
  maintainIndex,
  type SearchContext,
  type SearchService,
} from '../../src/search/port.ts';
import { advanceVersion } from '../../src/search/reindex/index-state.ts';
import { announceProcess } from '../../src/search/reindex/processes.ts';
import { rebuildNext } from '../../src/search/reindex/rebuild.ts';
import { formatsOf } from '../../src/search/write/target.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';
import { applyByChanges, comparable, compare, measure } from '../support/search/by-the-book.ts';
import {
  answerByTheBook,
  findByTheBook,
  type KnownCatalog,
  type Question,
} from '../support/search/discover-oracle.ts';
import { laterFormat, laterFormats } from '../support/search/index-formats.ts';
import { arbitraryNow, arbitraryQuestion, sampleIndex } from '../support/values/arbitrary-index.ts';

// An index of this version, used by a program of a later one with another tokenizer, other hashes and other boxes. What is found is always what a plain evaluation finds, in which
// each document is cut into words by the format that it is indexed in.

const [current, later] = [newestOf(indexFormats).version, laterFormat.version];
const questions = fc.sample(arbitraryQuestion, { seed: 20_261_116, numRuns: 15 });
/** Words that one tokenizer takes for the same and the other does not. */
const texts: Question[] = ['teas', 'greens tea', 'green', 'the blacks', 'cofee'].map((textSearch) => ({
  intent: { textSearch },
  now: arbitraryNow,
}));

/** Filters that posting lists of facts and of numbers lead to. */
const filters: Question[] = ['@.id == "r1"', '@.id == "r4"', '@.c.b >= 0', '@.a == "ab"'].map(
  (condition) => ({
    intent: { filters: { type: 'jsonpath', expression: `$.catalogs[*].resources[?${condition}]` } },
    now: arbitraryNow,
  }),
);

let home: TestDatabase;
let database: Database;
let threads: ThreadPool;
beforeEach(async () => {
  home = await createTestDatabase();
  const logger = silentLogger();
  database = await openDatabase({ url: home.url, logger, maxConnections: 6 });
  await applyByChanges(database, sampleIndex());
  threads = createThreadPool({ size: 1, logger });
});
afterEach(async () => {
  await threads.close();
  await database.close();
  await home.drop();
});

describe('a rebuild of the index for a later version', () => {
  it('keeps searches exact before the rebuild, after each step of it, within catalogs too, and afterwards', async () => {
    const service = startSearch(laterFormats);
    expect(await versions()).toEqual([current]);
    await holdAgainst(service, laterFormats);

    // A process that knows nothing of the newer version is still there.
    const older = await announceProcess({ database, logger: silentLogger() }, indexFormats);
    await advance();
    expect(await advance()).toEqual({ version: current, next: current });
    await older.close();

    expect(await advance()).toEqual({ version: current, next: later });
    await holdAgainst(service, laterFormats);
    expect(await advance()).toEqual({ version: later, next: later });
    let isBetween = false;
    let isWithin = false;
    while (await rebuildNext(database, laterFormats, later, 2)) {
      await holdAgainst(service, laterFormats);
      const { rows } = await database.query('select from discovery.catalog where reindexed_below > 0');
      isWithin ||= rows.length > 0;
      isBetween ||= (await versions()).length === 2;
    }
    expect({ isBetween, isWithin }).toEqual({ isBetween: true, isWithin: true });

    expect(await versions()).toEqual([later]);
    await holdAgainst(service, laterFormats);
    expect(await check(laterFormats)).toEqual([]);
  });

  it('keeps searches exact while catalogs are rebuilt under them', async () => {
    const service = startSearch(laterFormats);
    const index = await readCatalogs(laterFormats);
    // What a text finds depends on how many catalogs are done; what filters and places find does not.
    const others = [...filters, ...questions.filter(({ intent }) => intent.textSearch === undefined)];
    const stop = new AbortController();
    const rebuilding = (async () => {
      await advance();
      await advance();
      while (await rebuildNext(database, laterFormats, later, 1));
      stop.abort();
    })();
    // Unless it is a text that finds the same by either tokenizer, in another order.
    const found = await findIds(service, 'teas');
    expect(found.length).toBeGreaterThan(5);
    let rounds = 0;
    for (; !stop.signal.aborted; rounds++)
      for (const question of others) {
        const [ids] = await Promise.all([findIds(service, 'teas'), compare(service, index, question)]);
        expect(ids).toEqual(found);
      }
    await rebuilding;
    expect(rounds).toBeGreaterThan(0);
    expect(await versions()).toEqual([later]);
  });

  it('has a search done again under which a catalog was rebuilt, between its look at the versions and at the lists', async () => {
    await advance();
    await advance();
    let rebuilds = 0;
    let isDue = false;
    const meddled: Database = Object.create(database, {
      query: {
        async value(...asked: Parameters<Database['query']>) {
          const looksAtChanges = asked[0].includes('from discovery.change');
          if (isDue && !looksAtChanges && asked[0].includes('discovery.run')) {
            isDue = false;
            if (await rebuildNext(database, laterFormats, later, 2)) rebuilds++;
          }
          return database.query(...asked);
        },
      },
    });
    const service = startSearch(laterFormats, meddled);
    for (let round = 0; round < 4; round++)
      for (const question of texts) {
        isDue = true;
        const { answer } = await service.search({ message: { intent: question.intent }, scope: {} });
        const yardsticks = { measure, formats: await readInUse(laterFormats) };
        const expected = findByTheBook(await readCatalogs(laterFormats), question, yardsticks);
        expect(JSON.parse(answer.catalogs).map(comparable)).toEqual(
          answerByTheBook(expected, question).catalogs.map(comparable),
        );
      }
    expect(rebuilds).toBeGreaterThan(3);
  });
});

function startSearch(formats: IndexFormats, through = database): SearchService {
  const context: SearchContext = {
    config: readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` }),
    ...{ database: through, threads, formats },
    now: () => arbitraryNow,
  };
  return createSearch(context);
}

async function findIds(service: SearchService, textSearch: string): Promise<string[]> {
  const { answer } = await service.search({ message: { intent: { textSearch } }, scope: {} });
  const catalogs: Catalog[] = JSON.parse(answer.catalogs);
  return catalogs.flatMap(({ id, resources = [] }) => resources.map((each) => `${id} ${each.id}`)).sort();
}

async function holdAgainst(service: SearchService, formats: IndexFormats): Promise<void> {
  const index = await readCatalogs(formats);
  const inUse = await readInUse(formats);
  for (const question of [...texts, ...filters, ...questions])
    await compare(service, index, question, undefined, inUse);
}

/** Those of the catalogs, and those that searches shall look for. */
async function readInUse(formats: IndexFormats): Promise<ReadonlySet<IndexFormat>> {
  const { rows } = await database.query<{ version: number }>(
    'select index_version as version from discovery.catalog union select version from discovery.index_state union select next from discovery.index_state',
  );
  return new Set(rows.map(({ version }) => formatOf(formats, version)));
}

/** What the index holds, in the order of keys, with the format of each document. */
async function readCatalogs(formats: IndexFormats): Promise<KnownCatalog[]> {
  const { rows } = await database.query<{
    owner: string;
    networks: string[];
    type: 'REGULAR' | 'MASTER';
    head: string;
    resources: string;
    offers: string;
    index_version: number;
    reindexed_below: number;
    reindexed_version: number;
  }>(
    `select owner, networks, type, head::text as head, index_version, reindexed_below, reindexed_version,
       (select coalesce(json_agg(json_build_array(key % (1 << 26), document) order by key), '[]') from discovery.resource where catalog_key = catalog.key)::text as resources,
       (select coalesce(json_agg(json_build_array(key % (1 << 26), document) order by key), '[]') from discovery.offer where catalog_key = catalog.key)::text as offers
     from discovery.catalog order by key`,
  );
  return rows.map(({ owner, networks, type, head, resources, offers, ...row }) => {
    const listed = [resources, offers].map((text): [number, { id: string }][] => JSON.parse(text));
    const numbers = new Map(listed.flat().map(([number, document]) => [document as object, number]));
    const [ownResources = [], ownOffers = []] = listed.map((each) => each.map(([, document]) => document));
    const catalog = { ...JSON.parse(head), resources: ownResources, offers: ownOffers } as Catalog;
    const formatAt = formatsOf(row, formats);
    return {
      owner,
      networkIds: networks,
      type,
      catalog,
      format: (document) => formatAt(numbers.get(document)),
    };
  });
}

function advance(): Promise<object> {
  return advanceVersion(database, laterFormats, { graceMs: 0 });
}

async function versions(): Promise<number[]> {
  const { rows } = await database.query<{ version: number }>(
    'select distinct index_version as version from discovery.catalog order by 1',
  );
  return rows.map(({ version }) => version);
}

async function check(formats: IndexFormats): Promise<object[]> {
  const found: object[] = [];
  await maintainIndex(database, formats).check({ onDifference: (difference) => void found.push(difference) });
  return found;
}
