import { beforeEach, describe, expect, it } from 'vitest';
import { type CountedSearches, countSearches } from '../../../tests/support/counted-searches.ts';
import { useDatabase } from '../../../tests/support/database.ts';
import { catalog, offer, plain } from '../../../tests/support/sample-catalogs.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import type { Database } from '../../storage/database.ts';
import { keyOf } from '../documents/keys.ts';
import { indexFormats, newestOf } from '../format/index-format.ts';
import { abroadList, entriesOf, type StoredRun, wideList } from '../lists/runs.ts';
import { checkIndex, type Difference } from '../reindex/check.ts';
import { advanceVersion } from '../reindex/index-state.ts';
import { rebuildNext } from '../reindex/rebuild.ts';
import { writeIndex } from './write-index.ts';

let database: Database;
let searches: CountedSearches;
useDatabase(
  (opened) => {
    database = opened;
  },
  {
    emptied:
      'discovery.catalog, discovery.resource, discovery.offer, discovery.offer_target, discovery.run, discovery.geometry cascade',
  },
);
const newest = newestOf(indexFormats).version;
beforeEach(async () => {
  await setVersion(newest);
  await searches?.close();
  searches = countSearches(database, readConfig({}));
});

const night = { descriptor: { name: 'Night tariff' } };
const timed = { ...night, validity: { startDate: '2020-01-01T00:00:00Z' } };
const shop = (id: string, more: Partial<Catalog> = {}) =>
  catalog(id, { resources: [plain(`${id}-1`)], ...more });
const naming = (...resourceIds: string[]) => ({ offers: [offer('o', { ...night, resourceIds })] });

describe('the catalogs with offers that may apply to resources of others', () => {
  it('are those whose offers name such a resource, whichever of the two comes first', async () => {
    await apply([shop('a', naming('a-1', 'b-1')), shop('c', naming('c-1')), shop('d', naming('a-1'))]);
    expect(await readHeads(abroadList)).toEqual(['d']);
    expect(await findIds()).toEqual(['a-1', 'c-1']);
    await apply([shop('b')]);
    expect(await readHeads(abroadList)).toEqual(['a', 'd']);
    expect(await findIds()).toEqual(['a-1', 'c-1', 'b-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('are found when an offer and the resource that it names come at once', async () => {
    let second: Promise<void> | undefined;
    await database.transaction(async (tx) => {
      await writeIndex(tx, new Date(), ({ apply: add }) => add([incoming(shop('a', naming('b-1')))]));
      second = apply([shop('b')]);
      // The second one waits for the end of the first.
      await until(async () => {
        const { rows } = await database.query(
          "select from pg_locks where locktype = 'advisory' and not granted",
        );
        return rows.length > 0;
      });
    });
    await second;
    expect(await readHeads(abroadList)).toEqual(['a']);
    expect(await findIds()).toEqual(['b-1']);
  });

  it('are not those that name the same id as another owner has, among few catalogs of the owner or many', async () => {
    await apply([shop('a', { resources: [plain('one')], ...naming('one') })]);
    await apply([shop('b', { resources: [plain('one')] })], 'other.example/reg');
    await apply(Array.from({ length: 9 }, (_, index) => shop(`many-${index}`)));
    await apply([shop('c', { resources: [plain('two')], ...naming('two') })]);
    await apply([shop('d', { resources: [plain('two')] })], 'other.example/reg');
    await apply([shop('e', naming('many-7-1'))]);
    expect(await readHeads(abroadList)).toEqual(['e']);
    expect(await findIds()).toEqual(['one', 'many-7-1', 'two']);
  });

  it('are taken for such where their owner and an id have too many catalogs to look', async () => {
    const withOne = (id: string) => shop(id, { resources: [plain('one')] });
    await apply(Array.from({ length: 9 }, (_, index) => shop(`many-${index}`)));
    await apply(
      Array.from({ length: 9 }, (_, index) => withOne(`o-${index}`)),
      'other.example/reg',
    );
    await apply([shop('a', { resources: [plain('one')], ...naming('one') })]);
    expect(await readHeads(abroadList)).toEqual(['a']);
    expect(await findIds()).toEqual(['one']);
  });

  it('are those whose offers name a provider, and, where they have siblings, those with wide offers that have a validity', async () => {
    const provider = { id: 'p', descriptor: { name: 'Provider' } };
    await apply([
      shop('a', { offers: [offer('o', { ...night, provider })] }),
      shop('b', { provider, offers: [offer('o', timed)] }),
    ]);
    expect(await readHeads(abroadList)).toEqual(['a']);
    expect(await readHeads(wideList)).toEqual(['b']);
    expect(await findIds()).toEqual(['b-1']);
    await apply([shop('c', { provider })]);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('leave the list when they are removed', async () => {
    await apply([shop('a', naming('b-1')), shop('b', { offers: [offer('o', timed)] })]);
    await remove(['a', 'b']);
    expect([await readHeads(abroadList), await readHeads(wideList)]).toEqual([[], []]);
    const { rows } = await database.query('select from discovery.run');
    expect(rows).toEqual([]);
  });

  it('are found in an index that older code has written, when the version begins that asks for them', async () => {
    await setVersion(2);
    await apply([shop('a', naming('b-1')), shop('b'), shop('c', { offers: [offer('o', timed)] })]);
    await database.query('delete from discovery.run where list = any ($1)', [[abroadList, wideList]]);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findDifferences()).toEqual([]);
    for (let step = 0; step < 2; step++) await advanceVersion(database, indexFormats, { graceMs: -1 });
    expect([await readHeads(abroadList), await readHeads(wideList)]).toEqual([['a'], ['c']]);
    while (await rebuildNext(database, indexFormats, newest, 1))
      expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
  });

  it('are mended where they were lost', async () => {
    await apply([shop('a', naming('b-1')), shop('b'), shop('c', { offers: [offer('o', timed)] })]);
    await database.query('delete from discovery.run where list = any ($1)', [[abroadList, wideList]]);
    expect(await findDifferences()).toHaveLength(2);
    await findDifferences({ mend: true });
    expect(await findDifferences()).toEqual([]);
    expect([await readHeads(abroadList), await readHeads(wideList)]).toEqual([['a'], ['c']]);
  });
});

describe('a word of offers on resources of their own catalogs', () => {
  it.each([
    ['that name them', (id: string) => naming(`${id}-1`)],
    ['that have a validity', () => ({ offers: [offer('o', timed)] })],
  ])('%s is found with as few statements in very many offers as in few', async (_, more) => {
    const shops = (from: number, to: number) =>
      Array.from({ length: to - from }, (_each, index) => shop(`s${from + index}`, more(`s${from + index}`)));
    await apply(shops(0, 150));
    const few = await findNight();
    await apply(shops(150, 2_000));
    const many = await findNight();
    expect(few.ids).toEqual(['s0-1', 's1-1', 's2-1', 's3-1', 's4-1']);
    expect(many.ids).toEqual(few.ids);
    // Of 1,200 at a time it is asked whether they apply.
    expect(many.asked.statements).toBeLessThanOrEqual(few.asked.statements + 1);
  });
});

function incoming(one: Catalog, owner = 'provider.example/reg') {
  const from = { source: 'node', owner, type: 'REGULAR', networks: [], mode: 'FULL' } as const;
  return { ...from, catalog: one };
}

async function apply(catalogs: readonly Catalog[], owner?: string): Promise<void> {
  await database.transaction((tx) =>
    writeIndex(tx, new Date(), ({ apply: add }) => add(catalogs.map((one) => incoming(one, owner)))),
  );
}

async function remove(ids: readonly string[]): Promise<void> {
  const refs = ids.map((id) => ({ source: 'node', owner: incoming(shop(id)).owner, id }));
  await database.transaction((tx) => writeIndex(tx, new Date(), (writer) => writer.remove(refs)));
}

/** When the states of all catalogs are known. */
async function findNight() {
  await searches.find([{ intent: { textSearch: 'resource' } }]);
  const { found, asked } = await searches.find([{ intent: { textSearch: 'night' }, limit: 5 }]);
  return { ids: found[0], asked };
}

async function findIds(): Promise<string[] | undefined> {
  const { found } = await searches.find([{ intent: { textSearch: 'night' } }]);
  return found[0];
}

/** The ids of the catalogs in a list. */
async function readHeads(list: number): Promise<string[]> {
  const { rows } = await database.query<StoredRun>('select * from discovery.run where list = $1', [list]);
  const heads = new Set(entriesOf(list, rows).keys);
  const catalogs = await database.query<{ key: number; id: string }>(
    'select key, id from discovery.catalog order by id',
  );
  return catalogs.rows.filter(({ key }) => heads.has(keyOf(key, 0))).map(({ id }) => id);
}

async function findDifferences({ mend = false } = {}): Promise<Difference[]> {
  const differences: Difference[] = [];
  await checkIndex(database, indexFormats, { mend, onDifference: (each) => void differences.push(each) });
  return differences;
}

async function setVersion(version: number): Promise<void> {
  await database.query('delete from discovery.index_state');
  await database.query('insert into discovery.index_state (version, next) values ($1, $1)', [version]);
}
