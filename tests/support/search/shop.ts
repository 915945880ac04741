import { readFileSync } from 'node:fs';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createSearch } from '../../../src/search/port.ts';
import { openDatabase } from '../../../src/storage/database.ts';
import { createThreadPool } from '../../../src/thread-pool.ts';
import { createTestDatabase } from '../database/database.ts';
import { apply } from './by-the-book.ts';

// Our hand-made collection, in an index.

export interface Shop {
  /** The ids of the results, in order. */
  find(textSearch: string): Promise<string[]>;
  /** The matches of the words of a text, as an explanation lists them, in alphabetical order. */
  explain(textSearch: string): Promise<object[]>;
  /** Why a text finds a product or not, in a sentence about its words. */
  why(textSearch: string, id: string): Promise<string | undefined>;
  /** Grades by product. */
  queries: Map<string, Map<string, number>>;
  meanings: { kind: string; query: string; meant: string[] }[];
  measureQuery(ids: string[], grades: Map<string, number>): { ndcg?: number };
  close(): Promise<void>;
}

const folder = 'tests/fixtures/relevance';

export async function startShop(): Promise<Shop> {
  const load = (file: string) => import(new URL(`../../../bench/relevance/${file}`, import.meta.url).href);
  const { readJudged, catalogsOf, resourceOf } = await load('collections.mjs');
  const { measureQuery } = await load('measures.mjs');
  const { products, queries } = readJudged(folder);
  const testDatabase = await createTestDatabase();
  const logger = silentLogger();
  const database = await openDatabase({ url: testDatabase.url, logger, maxConnections: 2 });
  const threads = createThreadPool({ size: 1, logger });
  const now = () => new Date();
  const search = createSearch({ config: readConfig({}), database, threads, now });
  const catalogs = [...catalogsOf('shop', products.map(resourceOf))];
  await apply(
    database,
    catalogs.map((catalog) => ({ owner: 'shop.example/reg', networkIds: [], type: 'REGULAR', catalog })),
  );
  return {
    queries,
    measureQuery,
    meanings: readFileSync(`${folder}/meanings.tsv`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [kind = '', query = '', meant = ''] = line.split('\t');
        return { kind, query, meant: meant.split(' ') };
      }),
    async find(textSearch) {
      const { answer } = await search.search({ message: { intent: { textSearch }, limit: 20 }, scope: {} });
      return answer.ranking.map(({ resourceId }) => resourceId);
    },
    async explain(textSearch) {
      const { trace } = await search.search({ message: { intent: { textSearch } }, scope: {} });
      const { words } = trace.steps.find(({ step }) => step === 'read words') as unknown as {
        words: { word: string; standsFor: { word: string }[] }[];
      };
      return words
        .filter(({ standsFor }) => standsFor.length > 0)
        .map(({ word, standsFor }) => ({
          word,
          standsFor: standsFor.sort((a, b) => (a.word < b.word ? -1 : 1)),
        }));
    },
    async why(textSearch, id) {
      const { checks } = await search.why({ message: { intent: { textSearch } }, scope: {} }, { id });
      return checks.find(({ check }) => check === 'text')?.detail;
    },
    async close() {
      await threads.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}
