import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalog } from '../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../logger.ts';
import type { Database } from '../storage/database.ts';
import { createThreadPool } from '../thread-pool.ts';
import { createSearch, type SearchService, writeIndex } from './port.ts';

const threads = createThreadPool({ size: 1, logger: silentLogger() });
afterAll(() => threads.close());

let database: Database;
/** Counts the statements of its searches. */
let statements = 0;
let origin = {};
useDatabase((opened) => {
  database = Object.create(opened, {
    origin: { get: () => origin },
    query: {
      value: (...asked: Parameters<Database['query']>) => {
        statements++;
        return opened.query(...asked);
      },
    },
  });
});
beforeAll(async () => {
  const resources = [{ id: 'r', descriptor: { name: 'Coffee' } }];
  const from = { source: 'node', owner: 'o', type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  const incoming = [{ ...from, catalog: catalog('c', { resources }) }];
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
});

async function countStatements(service: SearchService): Promise<number> {
  statements = 0;
  const { answer } = await service.search({ message: { intent: { textSearch: 'coffee' } }, scope: {} });
  expect(answer.resourceCount).toBe(1);
  return statements;
}

it('a search service has caches of its own, which are empty again after a connection was lost', async () => {
  const open = () => createSearch({ config: readConfig({}), database, threads, now: () => new Date() });
  const service = open();
  const first = await countStatements(service);
  expect(await countStatements(service)).toBeLessThan(first);
  expect(await countStatements(open())).toBe(first);
  origin = {};
  expect(await countStatements(service)).toBe(first);
  expect(await countStatements(service)).toBeLessThan(first);
});
