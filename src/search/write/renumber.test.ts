import { beforeEach, describe, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { silentLogger } from '../../logger.ts';
import type { Database } from '../../storage/database.ts';
import { indexFormats, newestOf } from '../entries/index-format.ts';
import { lastNumbers } from '../keys.ts';
import { buildOutdated } from '../upkeep/build.ts';
import { checkIndex } from '../upkeep/check.ts';
import { type RenumberedPart, renumberPart } from './renumber.ts';
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
const generations = [{ number: 1, index: 'index_1', format: newestOf(indexFormats) }];
const maxCatalogKey = 2 ** 27 - 1;

describe('the numbers of a catalog', () => {
  it('begin anew when they have come to their end, with documents, offers and entries in the same order', async () => {
    await apply('c1', ids);
    await apply('c2', ids);
    await apply('c1', ['r2', 'r3']);
    await useUpNumbers('c1');
    await apply('c1', ['r2', 'r3', 'r4', 'r5']);
    await apply('c1', ['r2', 'r3', 'r4', 'r5', 'r6', 'r7']);
    expect(await readNumbers('c1')).toEqual([
      { number: 1, id: 'r2' },
      { number: 2, id: 'r3' },
      { number: 3, id: 'r4' },
      { number: 4, id: 'r5' },
      { number: 5, id: 'r6' },
      { number: 6, id: 'r7' },
    ]);
    expect(await readTargets()).toEqual(await readOffers());
    expect(await check()).toEqual([]);
    // The order of catalogs stays, too.
    const { rows } = await database.query('select id from discovery.catalog order by key');
    expect(rows).toEqual([{ id: 'c1' }, { id: 'c2' }]);
  });

  it('begin anew long before they have come to their end, in several short transactions', async () => {
    await apply('c1', ids);
    await database.query('update discovery.catalog set next_resource = 30000000, next_offer = 60000000');
    await apply('c1', ['r3', 'r4', 'r5', 'r6']);
    const parts = [];
    for (let from: RenumberedPart | undefined; !from?.isDone; ) {
      const before: RenumberedPart | undefined = from;
      from = await database.transaction((tx) =>
        renumberPart(tx, 1, 'resource', { generations, maxDocuments: 2, from: before }),
      );
      parts.push((await readNumbers('c1')).map(({ number }) => number));
      expect(await check()).toEqual([]);
    }
    expect(parts).toEqual([
      [1, 2, 30_000_001, 30_000_002],
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
    const context = { database, logger: silentLogger(), formats: indexFormats, graceMs: 0 };
    await buildOutdated(context, new AbortController().signal);
    const { rows } = await database.query(
      'select next_resource, next_offer - (1 << 25) as next_offer from discovery.catalog',
    );
    expect(rows).toEqual([{ next_resource: 5, next_offer: 3 }]);
    expect((await readNumbers('c1')).map(({ id }) => id)).toEqual(['r3', 'r4', 'r5', 'r6']);
    expect(await check()).toEqual([]);
  });

  it('begin anew where documents go and come between two transactions', async () => {
    await apply('c1', ids);
    await database.query('update discovery.catalog set next_resource = 30000000');
    await apply('c1', ['r2', 'r3', 'r4', 'r5', 'r6']);
    const move = (from?: RenumberedPart) =>
      database.transaction((tx) => renumberPart(tx, 1, 'resource', { generations, maxDocuments: 3, from }));
    const first = await move();
    await apply('c1', ['r3', 'r4', 'r6', 'r7']);
    const second = await move(first);
    await apply('c1', ['r3', 'r4', 'r6', 'r7', 'r8']);
    expect([first.isDone, second.isDone]).toEqual([false, true]);
    expect(await readNumbers('c1')).toEqual([
      { number: 2, id: 'r3' },
      { number: 3, id: 'r4' },
      { number: 4, id: 'r6' },
      { number: 5, id: 'r7' },
      { number: 6, id: 'r8' },
    ]);
    expect(await check()).toEqual([]);
  });

  it('begin anew once where somebody else has them begin anew meanwhile', async () => {
    await apply('c1', ids);
    await database.query('update discovery.catalog set next_resource = 30000000');
    await apply('c1', ['r2', 'r3', 'r4', 'r5', 'r6']);
    const move = (maxDocuments: number, from?: RenumberedPart) =>
      database.transaction((tx) => renumberPart(tx, 1, 'resource', { generations, maxDocuments, from }));
    const part = await move(3);
    await move(100);
    await apply('c1', ['r2', 'r3', 'r4', 'r5', 'r6', 'r7']);
    await move(100, part);
    await apply('c1', ['r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8']);
    expect((await readNumbers('c1')).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await check()).toEqual([]);
  });

  it('are left to the process that has the lease of the build', async () => {
    await apply('c1', ids);
    await database.query('update discovery.catalog set next_resource = 30000000');
    const other = '6f7e33bc-6a4e-4a0c-8f4b-3c2f0c9f7a11';
    await database.query(
      "update discovery.generation set lease_token = $1, leased_until = now() + interval '1 minute'",
      [other],
    );
    const context = { database, logger: silentLogger(), formats: indexFormats, graceMs: 0 };
    const readNext = async () => (await database.query('select next_resource from discovery.catalog')).rows;
    await buildOutdated(context, new AbortController().signal);
    expect(await readNext()).toEqual([{ next_resource: 30_000_000 }]);
    await database.query('update discovery.generation set lease_token = null, leased_until = null');
    await buildOutdated(context, new AbortController().signal);
    expect(await readNext()).toEqual([{ next_resource: 4 }]);
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

/** As if it had had many resources and offers before, which are gone. */
async function useUpNumbers(id: string): Promise<void> {
  await database.query('update discovery.catalog set next_resource = $2, next_offer = $3 where id = $1', [
    id,
    lastNumbers.resource - 1,
    lastNumbers.offer - 1,
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
