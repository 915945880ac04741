import { expect, it } from 'vitest';
import { catalog } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { writeIndex } from '../write/write-index.ts';
import { loadCatalogs } from './scope.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

it('the states of catalogs are loaded once, also where everything has changed and nobody searches', async () => {
  const incoming = ['c1', 'c2'].map((id) => ({
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: ['n'] },
    ...{ mode: 'FULL' as const, catalog: catalog(id) },
  }));
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply }) => apply(incoming)));
  await loadCatalogs(database);
  await database.query('insert into discovery.change (everything) values (true)');
  let statements = 0;
  const watched: SearchingProcess = Object.create(database, {
    rows: {
      value(...args: Parameters<typeof database.rows>) {
        statements++;
        return database.rows(...args);
      },
    },
  });
  await loadCatalogs(watched, AbortSignal.timeout(2_000));
  // One for the changes, one for all catalogs.
  expect(statements).toBe(2);
  const { catalogs } = database.caches;
  expect(catalogs.loadedUpTo).toBe(catalogs.limit);
});
