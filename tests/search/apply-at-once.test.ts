import { expect, it } from 'vitest';
import { lookupOf, presenceFact } from '../../src/search/entries/attributes.ts';
import { listSet } from '../../src/search/lists/list-set.ts';
import { openLists } from '../../src/search/lists/read-lists.ts';
import { readAll } from '../../src/search/set/doc-set.ts';
import { writeIndex } from '../../src/search/write/write-index.ts';
import { catalog, charger, offer } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { compactLists } from '../support/search/compact-lists.ts';
import { type SearchingProcess, withCaches } from '../support/search/index-reader.ts';

let database: SearchingProcess;
useDatabase((opened) => {
  database = withCaches(opened);
});

const catalogs = Array.from({ length: 8 }, (_, index) => `c${index}`);
const versions = [1, 2, 3, 4];
const kept = 3;
/** A fact that all resources have. */
const described = presenceFact(lookupOf([{ name: 'descriptor' }], 'resource').path);

it('catalogs that change at the same time share the runs of their lists, and none is undone for another', async () => {
  let attempts = 0;
  for (const version of versions) {
    const applied = catalogs.map((id, index) =>
      database.transaction((tx) => {
        attempts += 1;
        return writeIndex(tx, new Date(), ({ apply }) => apply([incoming(id, index, version)]));
      }),
    );
    await Promise.all([...applied, compactLists(database)]);
    await compactLists(database);
  }
  expect(attempts).toBe(catalogs.length * versions.length);
  const directory = (await openLists(database, [described])).get(described);
  const every = directory && (await readAll(listSet(database, directory)));
  const { rows } = await database.query<{ key: number }>('select key from discovery.resource order by key');
  expect([...(every ?? [])]).toEqual(rows.map(({ key }) => key));
  expect(rows.length).toBe(catalogs.length * (kept + 1));
});

/** Every version has other words and numbers, which all catalogs share, each in a different order; some resources stay and one changes its name. */
function incoming(id: string, index: number, version: number) {
  const words = Array.from(
    { length: 6 },
    (_, position) => `word${(version + position * (index + 1)) % 9}`,
  ).join(' ');
  const content = { price: version, tags: words.split(' '), note: words };
  const ids = [...Array.from({ length: kept }, (_, position) => `r${position}`), `version-${version}`];
  return {
    ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
    mode: 'FULL' as const,
    catalog: {
      ...catalog(id, {
        resources: ids.map((resourceId) => charger(resourceId, content)),
        offers: [offer('o1', { resourceIds: ['r1'], descriptor: { name: words } })],
      }),
      descriptor: { name: words },
    },
  };
}
