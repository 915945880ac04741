import { beforeEach } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import type { Catalog } from '../../../src/protocol/catalog.ts';
import { keyOf } from '../../../src/search/documents/keys.ts';
import { indexFormats, newestOf } from '../../../src/search/format/index-format.ts';
import { entriesOf, type StoredRun } from '../../../src/search/lists/runs.ts';
import { checkIndex } from '../../../src/search/reindex/check.ts';
import type { Difference } from '../../../src/search/reindex/compare-lists.ts';
import { writeIndex } from '../../../src/search/write/write-index.ts';
import type { Database } from '../../../src/storage/database.ts';
import { useDatabase } from '../database/database.ts';
import { until } from '../time.ts';
import { type Asked, type CountedSearches, countSearches } from './counted-searches.ts';

// An index of catalogs whose offers have words in common, empty before each test: written to, searched by a word, and checked.

const owner = 'provider.example/reg';

/** What offers share a word by. */
export const night = { descriptor: { name: 'Night tariff' } };

export interface IndexedOffers {
  readonly database: Database;
  apply(catalogs: readonly Catalog[], owner?: string): Promise<void>;
  /** In two transactions at once: the second waits for the end of the first. */
  applyAtOnce(first: Catalog, second: Catalog): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** The ids of the resources that the word is found for. */
  findIds(): Promise<string[] | undefined>;
  /** The first five of them, and what that asks of PostgreSQL once the states of all catalogs are known. */
  findFirst(): Promise<{ ids: string[] | undefined; asked: Asked }>;
  /** The ids of the catalogs in a list. */
  readCatalogs(list: number): Promise<string[]>;
  findDifferences(options?: { mend?: boolean }): Promise<Difference[]>;
  setVersion(version: number): Promise<void>;
}

export function useIndexedOffers(): IndexedOffers {
  let database: Database;
  let searches: CountedSearches | undefined;
  useDatabase(
    (opened) => {
      database = opened;
    },
    {
      emptied:
        'discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target, discovery.run, discovery.geometry cascade',
    },
  );
  beforeEach(async () => {
    await setVersion(newestOf(indexFormats).version);
    await searches?.close();
    searches = countSearches(database, readConfig({}));
  });

  async function find(message: object) {
    const { found = [], asked } = (await searches?.find([message])) ?? {};
    return { ids: found[0], asked: asked ?? { statements: 0, characters: 0 } };
  }

  async function apply(catalogs: readonly Catalog[], from?: string): Promise<void> {
    const all = catalogs.map((each) => incoming(each, from));
    await database.transaction((tx) => writeIndex(tx, new Date(), (writer) => writer.apply(all)));
  }

  async function applyAtOnce(first: Catalog, second: Catalog): Promise<void> {
    let waiting: Promise<void> | undefined;
    await database.transaction(async (tx) => {
      await writeIndex(tx, new Date(), (writer) => writer.apply([incoming(first)]));
      waiting = apply([second]);
      await until(async () => {
        const { rows } = await database.query(
          "select from pg_locks where locktype = 'advisory' and not granted",
        );
        return rows.length > 0;
      });
    });
    await waiting;
  }

  async function setVersion(version: number): Promise<void> {
    await database.query('delete from discovery.index_state');
    await database.query('insert into discovery.index_state (version, next) values ($1, $1)', [version]);
  }

  return {
    get database() {
      return database;
    },
    ...{ apply, applyAtOnce, setVersion },
    remove: (ids) =>
      database.transaction((tx) =>
        writeIndex(tx, new Date(), ({ remove }) => remove(ids.map((id) => ({ source: 'node', owner, id })))),
      ),
    findIds: async () => (await find({ intent: { textSearch: 'night' } })).ids,
    async findFirst() {
      await find({ intent: { textSearch: 'resource' } });
      return find({ intent: { textSearch: 'night' }, limit: 5 });
    },
    async readCatalogs(list) {
      const { rows } = await database.query<StoredRun>('select * from discovery.run where list = $1', [list]);
      const keys = new Set(entriesOf(list, rows).keys);
      const catalogs = await database.query<{ key: number; id: string }>(
        'select key, id from discovery.catalog order by id',
      );
      return catalogs.rows.filter(({ key }) => keys.has(keyOf(key, 0))).map(({ id }) => id);
    },
    async findDifferences({ mend = false } = {}) {
      const differences: Difference[] = [];
      await checkIndex(database, indexFormats, { mend, onDifference: (each) => void differences.push(each) });
      return differences;
    },
  };
}

/** A catalog as it came from its node. */
function incoming(catalog: Catalog, from = owner) {
  return { source: 'node', owner: from, type: 'REGULAR', networks: [], mode: 'FULL', catalog } as const;
}
