import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { indexFormats, newestOf } from '../../src/search/format/index-format.ts';
import { abroadList, wideList } from '../../src/search/lists/runs.ts';
import { advanceVersion } from '../../src/search/reindex/index-state.ts';
import { rebuildNext } from '../../src/search/reindex/rebuild.ts';
import { catalog, offer, plain } from '../support/catalogs/sample-catalogs.ts';
import { night, useIndexedOffers } from '../support/search/indexed-offers.ts';

const indexed = useIndexedOffers();
const { apply, applyAtOnce, remove, findIds, findFirst, readCatalogs, findDifferences, setVersion } = indexed;

const timed = { ...night, validity: { startDate: '2020-01-01T00:00:00Z' } };
const shop = (id: string, more: Partial<Catalog> = {}) =>
  catalog(id, { resources: [plain(`${id}-1`)], ...more });
const naming = (...resourceIds: string[]) => ({ offers: [offer('o', { ...night, resourceIds })] });

describe('the catalogs with offers that may apply to resources of others', () => {
  it('are those whose offers name such a resource, whichever of the two comes first', async () => {
    await apply([shop('a', naming('a-1', 'b-1')), shop('c', naming('c-1')), shop('d', naming('a-1'))]);
    expect(await readCatalogs(abroadList)).toEqual(['d']);
    expect(await findIds()).toEqual(['a-1', 'c-1']);
    await apply([shop('b')]);
    expect(await readCatalogs(abroadList)).toEqual(['a', 'd']);
    expect(await findIds()).toEqual(['a-1', 'c-1', 'b-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('are found when an offer and the resource that it names come at once', async () => {
    await applyAtOnce(shop('a', naming('b-1')), shop('b'));
    expect(await readCatalogs(abroadList)).toEqual(['a']);
    expect(await findIds()).toEqual(['b-1']);
  });

  it('are not those that name the same id as another owner has, among few catalogs of the owner or many', async () => {
    await apply([shop('a', { resources: [plain('one')], ...naming('one') })]);
    await apply([shop('b', { resources: [plain('one')] })], 'other.example/reg');
    await apply(Array.from({ length: 9 }, (_, index) => shop(`many-${index}`)));
    await apply([shop('c', { resources: [plain('two')], ...naming('two') })]);
    await apply([shop('d', { resources: [plain('two')] })], 'other.example/reg');
    await apply([shop('e', naming('many-7-1'))]);
    expect(await readCatalogs(abroadList)).toEqual(['e']);
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
    expect(await readCatalogs(abroadList)).toEqual(['a']);
    expect(await findIds()).toEqual(['one']);
  });

  it('are those whose offers name a provider, and, where they have siblings, those with wide offers that have a validity', async () => {
    const provider = { id: 'p', descriptor: { name: 'Provider' } };
    await apply([
      shop('a', { offers: [offer('o', { ...night, provider })] }),
      shop('b', { provider, offers: [offer('o', timed)] }),
    ]);
    expect(await readCatalogs(abroadList)).toEqual(['a']);
    expect(await readCatalogs(wideList)).toEqual(['b']);
    expect(await findIds()).toEqual(['b-1']);
    await apply([shop('c', { provider })]);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('leave the list when they are removed', async () => {
    await apply([shop('a', naming('b-1')), shop('b', { offers: [offer('o', timed)] })]);
    await remove(['a', 'b']);
    expect([await readCatalogs(abroadList), await readCatalogs(wideList)]).toEqual([[], []]);
    const { rows } = await indexed.database.query('select from discovery.run');
    expect(rows).toEqual([]);
  });

  it('are found in an index that older code has written, when the version begins that asks for them', async () => {
    await setVersion(2);
    await apply([shop('a', naming('b-1')), shop('b'), shop('c', { offers: [offer('o', timed)] })]);
    await indexed.database.query('delete from discovery.run where list = any ($1)', [[abroadList, wideList]]);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findDifferences()).toEqual([]);
    for (let step = 0; step < 2; step++)
      await advanceVersion(indexed.database, indexFormats, { graceMs: -1 });
    expect([await readCatalogs(abroadList), await readCatalogs(wideList)]).toEqual([['a'], ['c']]);
    while (await rebuildNext(indexed.database, indexFormats, newestOf(indexFormats).version, 1))
      expect(await findIds()).toEqual(['b-1', 'c-1']);
    expect(await findIds()).toEqual(['b-1', 'c-1']);
  });

  it('are mended where they were lost', async () => {
    await apply([shop('a', naming('b-1')), shop('b'), shop('c', { offers: [offer('o', timed)] })]);
    await indexed.database.query('delete from discovery.run where list = any ($1)', [[abroadList, wideList]]);
    expect(await findDifferences()).toHaveLength(2);
    await findDifferences({ mend: true });
    expect(await findDifferences()).toEqual([]);
    expect([await readCatalogs(abroadList), await readCatalogs(wideList)]).toEqual([['a'], ['c']]);
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
    const few = await findFirst();
    await apply(shops(150, 2_000));
    const many = await findFirst();
    expect(few.ids).toEqual(['s0-1', 's1-1', 's2-1', 's3-1', 's4-1']);
    expect(many.ids).toEqual(few.ids);
    // Of 1,200 at a time it is asked whether they apply.
    expect(many.asked.statements).toBeLessThanOrEqual(few.asked.statements + 1);
  });
});
