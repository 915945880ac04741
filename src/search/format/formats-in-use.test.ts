import { EventEmitter, once } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { catalog, charger } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { patienceMs } from '../../../tests/support/patience.ts';
import { laterFormat, laterFormats } from '../../../tests/support/search/index-formats.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../thread-pool.ts';
import { createCaches, type IndexReader } from '../cache/caches.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { keyOf } from '../documents/keys.ts';
import { createSearch, type SearchService } from '../port.ts';
import { rebuildNext } from '../reindex/rebuild.ts';
import { writeIndex } from '../write/write-index.ts';
import { readDocumentVersions } from './formats-in-use.ts';
import { type IndexFormats, indexFormats, newestOf } from './index-format.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

let threads: ThreadPool;
beforeAll(() => {
  threads = createThreadPool({ size: 1, logger: silentLogger() });
});
afterAll(() => threads.close());

const [older, later] = [newestOf(indexFormats).version, laterFormat.version];
/** A later version whose words are no typing errors of those before. */
const { tokenizer } = laterFormat;
const backwards: IndexFormats = [
  ...indexFormats,
  {
    ...laterFormat,
    tokenizer: {
      index: (text) => new Set(Array.from(tokenizer.index(text), reverse)),
      query: (text) => tokenizer.query(text).map(reverse),
    },
  },
];

function reverse(word: string): string {
  return [...word].reverse().join('');
}

beforeEach(async () => {
  await database.query(
    `truncate discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target, discovery.run, discovery.geometry
     restart identity cascade`,
  );
  await setVersion(older);
  await apply('c1');
  await apply('c2');
});

describe('the formats of the index', () => {
  it('are looked for all when a long transaction brings a catalog of the version before, after all others are rebuilt', async () => {
    const service = startSearch();
    await writing('late', async () => {
      await setVersion(later);
      while (await rebuildNext(database, laterFormats, later));
      expect(await find(service, 'c1-r')).toEqual(['c1-r']);
    });
    expect(await find(service, 'late-r')).toEqual(['late-r']);
  });

  it('of catalogs are known to a search that comes while another one reads what was written', async () => {
    await setVersion(later);
    const caches = createCaches();
    const first: IndexReader = { query: database.query, caches };
    await refreshCaches(first);
    const before = await readDocumentVersions(first, later);
    expect(before.versionOf(keyOf(1, 1))).toBe(older);
    await rebuildAll();
    await refreshCaches(first);

    const events = new EventEmitter();
    const slow = {
      caches,
      async query(...asked: Parameters<Database['query']>) {
        if (asked[0].includes('reindexed_below')) {
          const released = once(events, 'release');
          events.emit('reading');
          await released;
        }
        return database.query(...asked);
      },
    } as IndexReader;
    const isReading = once(events, 'reading');
    const one = readDocumentVersions(slow, later);
    await isReading;
    let hasAsked = false;
    const quick = {
      caches,
      query(...asked: Parameters<Database['query']>) {
        hasAsked = true;
        return database.query(...asked);
      },
    } as IndexReader;
    const other = readDocumentVersions(quick, later).then(({ versionOf }) => versionOf(keyOf(1, 1)));
    await immediate();
    if (hasAsked) await other;
    events.emit('release');
    expect(await other).toBe(later);
    expect((await one).versionOf(keyOf(1, 1))).toBe(later);
  });

  it('that change again and again under a search do not keep it from its end', async () => {
    await setVersion(later);
    let refreshes = 0;
    const restless: Database = Object.create(database, {
      query: {
        async value(...asked: Parameters<Database['query']>) {
          if (asked[0].includes('from discovery.change')) {
            refreshes++;
            await database.query(
              `update discovery.catalog set reindexed_below = reindexed_below + 1, reindexed_version = ${later} where id = 'c1'`,
            );
          }
          return database.query(...asked);
        },
      },
    });
    await find(startSearch(restless), 'c2-r');
    expect(refreshes).toBeGreaterThan(1);
  });

  it('that change under every attempt of a search do not keep it from finding all, in one snapshot', async () => {
    const ids = ['g1', 'g2', 'g3', 'g4'];
    for (const id of ids) await apply(id, 'hydrogen');
    await setVersion(later);
    let rebuilds = 0;
    let isDue = false;
    const rebuilding: Database = Object.create(database, {
      query: {
        async value(...asked: Parameters<Database['query']>) {
          // An attempt looks at the changes, then at the versions, then at the lists.
          const looksAtChanges = asked[0].includes('from discovery.change');
          isDue ||= looksAtChanges;
          if (isDue && !looksAtChanges && asked[0].includes('discovery.run')) {
            isDue = false;
            if (await rebuildNext(database, backwards, later, 1)) rebuilds++;
          }
          return database.query(...asked);
        },
      },
    });
    const service = startSearch(rebuilding, { SEARCH_CACHE_PERCENT: '0' }, backwards);
    const { answer } = await service.search({ message: { intent: { textSearch: 'hydrogen' } }, scope: {} });
    expect(readIds(answer)).toEqual(ids.map((id) => `${id}-r`));
    expect(rebuilds).toBe(3);
  });
});

async function rebuildAll(): Promise<void> {
  while (await rebuildNext(database, laterFormats, later));
}

async function setVersion(version: number): Promise<void> {
  await database.query('update discovery.index_state set version = $1, next = $1', [version]);
}

async function apply(id: string, name?: string): Promise<void> {
  await writing(id, async () => undefined, name);
}

/** Does something after a catalog was written, before that is committed. */
async function writing(id: string, meanwhile: () => Promise<void>, name = id): Promise<void> {
  const resource = { ...charger(`${id}-r`), descriptor: { name } };
  const incoming = {
    ...{ source: 'node', owner: 'provider.example/reg', networks: null },
    ...{ type: 'REGULAR' as const, mode: 'FULL' as const },
    catalog: catalog(id, { resources: [resource] }),
  };
  await database.transaction(async (tx) => {
    await writeIndex(tx, new Date(), ({ apply: add }) => add([incoming]), laterFormats);
    await meanwhile();
  });
}

function startSearch(through = database, settings = {}, formats = laterFormats): SearchService {
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs / 2}`, ...settings });
  const now = () => new Date();
  return createSearch({ config, database: through, threads, now, formats });
}

async function find(service: SearchService, id: string): Promise<string[]> {
  const expression = `$.catalogs[*].resources[?@.id == "${id}"]`;
  const intent = { filters: { type: 'jsonpath' as const, expression } };
  const { answer } = await service.search({ message: { intent }, scope: {} });
  return readIds(answer);
}

function readIds(answer: { catalogs: string }): string[] {
  const catalogs: { resources: { id: string }[] }[] = JSON.parse(answer.catalogs);
  return catalogs.flatMap(({ resources }) => resources.map((each) => each.id));
}
