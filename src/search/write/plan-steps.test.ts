import { beforeEach, describe, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../../storage/database.ts';
import { indexFormats } from '../entries/index-format.ts';
import { lastNumbers } from '../keys.ts';
import { checkIndex } from '../upkeep/check.ts';
import { writeIndex } from './write-index.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

beforeEach(async () => {
  await database.query(
    `truncate discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target, index_1.run, index_1.geometry
     restart identity cascade`,
  );
});

const ids = ['r1', 'r2', 'r3'];
const maxCatalogKey = 2 ** 27 - 1;

describe('the numbers of a catalog', () => {
  it('are the lowest that are free when they have come to their end, of resources and of offers', async () => {
    await apply('c1', ids);
    await apply('c2', ids);
    await apply('c1', ['r2', 'r3']);
    await useUpNumbers('c1', { left: 0 });
    await apply('c1', ['r2', 'r3', 'r4', 'r5']);
    await apply('c1', ['r2', 'r4', 'r5', 'r6', 'r7']);
    expect(await readNumbers('c1')).toEqual([
      { number: 1, id: 'r4' },
      { number: 2, id: 'r2' },
      { number: 4, id: 'r5' },
      { number: 5, id: 'r6' },
      { number: 6, id: 'r7' },
    ]);
    await apply('c1', ['r2', 'r4', 'r5', 'r6', 'r7', 'r8']);
    expect((await readNumbers('c1'))[2]).toEqual({ number: 3, id: 'r8' });
    expect(await readTargets()).toEqual(await readOffers());
    expect(await check()).toEqual([]);
    // The order of catalogs does not change.
    const { rows } = await database.query('select id from discovery.catalog order by key');
    expect(rows).toEqual([{ id: 'c1' }, { id: 'c2' }]);
  });

  it('are used up to the last one before', async () => {
    await apply('c1', ids);
    await useUpNumbers('c1', { left: 2 });
    await apply('c1', [...ids, 'r4', 'r5']);
    const { resource: last } = lastNumbers;
    expect((await readNumbers('c1')).map(({ number }) => number)).toEqual([1, 2, 3, last - 1, last]);
    await apply('c1', [...ids, 'r4', 'r5', 'r6']);
    expect((await readNumbers('c1'))[3]).toEqual({ number: 4, id: 'r6' });
    expect(await check()).toEqual([]);
  });
});

describe('the keys of catalogs', () => {
  it('are those that others have left, when the last one is used', async () => {
    for (const id of ['c1', 'c2', 'c3', 'c4']) await apply(id, ids);
    await database.query("select setval('discovery.catalog_number', $1)", [maxCatalogKey - 1]);
    await apply('last', ids);
    await database.transaction((tx) =>
      writeIndex(tx, new Date(), ({ remove }) => remove(['c2', 'c3'].map((id) => ({ ...published, id })))),
    );
    await Promise.all(['new 1', 'new 2'].map((id) => apply(id, ids)));
    await apply('new 3', ids);
    const { rows } = await database.query<{ key: number; id: string }>(
      'select key, id from discovery.catalog order by key',
    );
    expect(rows.map(({ key }) => key)).toEqual([1, 2, 3, 4, 5, maxCatalogKey]);
    expect(rows.map(({ id }) => id).sort()).toEqual(['c1', 'c4', 'last', 'new 1', 'new 2', 'new 3']);
    expect(await check()).toEqual([]);
  });
});

const published = { source: 'node', owner: 'provider.example/reg' };

async function apply(id: string, resources: string[]): Promise<void> {
  const place = { geo: { type: 'Point', coordinates: [10, 50] } };
  const incoming = {
    ...{ ...published, type: 'REGULAR' as const, networks: null, mode: 'FULL' as const },
    catalog: catalog(id, {
      resources: resources.map((each, price) => ({ ...charger(each, { price }), places: [place] })),
      offers: resources.slice(0, 3).map((each) => offer(`o-${each}`, { resourceIds: [each] })),
    }),
  };
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply: add }) => add([incoming])));
}

/** As if many resources and offers had been stored and removed before. */
async function useUpNumbers(id: string, { left }: { left: number }): Promise<void> {
  await database.query('update discovery.catalog set next_resource = $2, next_offer = $3 where id = $1', [
    id,
    lastNumbers.resource + 1 - left,
    lastNumbers.offer + 1 - left,
  ]);
}

async function readNumbers(id: string): Promise<{ number: number; id: string }[]> {
  const { rows } = await database.query<{ number: number; id: string }>(
    `select resource.key % (1 << 26) as number, resource.id from discovery.resource join discovery.catalog on catalog.key = catalog_key
     where catalog.id = $1 order by resource.key`,
    [id],
  );
  return rows;
}

async function readTargets(): Promise<object[]> {
  const { rows } = await database.query(
    'select resource_id, offer_key from discovery.offer_target order by 2, 1',
  );
  return rows;
}

async function readOffers(): Promise<object[]> {
  const { rows } = await database.query(
    'select resource_id, key as offer_key from discovery.offer, unnest(resource_ids) as resource_id order by 2, 1',
  );
  return rows;
}

async function check(): Promise<object[]> {
  const found: object[] = [];
  await checkIndex(database, indexFormats, { onDifference: (difference) => void found.push(difference) });
  return found;
}
