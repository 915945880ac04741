import { describe, expect, it } from 'vitest';
import { catalog, offer, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { night, useIndexedOffers } from '../../../tests/support/search/indexed-offers.ts';
import type { Catalog } from '../../protocol/catalog.ts';
import { indexFormats, newestOf } from '../format/index-format.ts';
import { siblingList } from '../lists/runs.ts';
import { advanceVersion } from '../reindex/index-state.ts';
import { rebuildNext } from '../reindex/rebuild.ts';

const indexed = useIndexedOffers();
const { apply, applyAtOnce, remove, findIds, findFirst, findDifferences, setVersion } = indexed;
const readSiblings = () => indexed.readCatalogs(siblingList);

describe('a word of standing offers', () => {
  it('is found in the resources of their catalogs, and reads as few rows of very many offers as of few', async () => {
    await apply(shops(0, 40));
    const few = await findFirst();
    await apply(shops(40, 1_200));
    const many = await findFirst();
    expect(few.ids).toEqual(['s0-1', 's1-1', 's2-1', 's3-1', 's4-1']);
    expect(many.ids).toEqual(few.ids);
    expect(many.asked.statements).toBeLessThanOrEqual(few.asked.statements);
    // Of the lists, a few bytes for each offer and each resource.
    expect(many.asked.characters - few.asked.characters).toBeLessThan(1_160 * 50);
  });

  it('is found in resources that came before or after their offers, and not when the offers are gone', async () => {
    await apply([
      catalog('a', { resources: [plain('a-1')] }),
      catalog('b', { offers: [offer('b-o', night)] }),
    ]);
    expect(await findIds()).toEqual([]);
    await apply([
      catalog('a', { resources: [plain('a-1')], offers: [offer('a-o', night)] }),
      catalog('b', { resources: [plain('b-1')], offers: [offer('b-o', night)] }),
    ]);
    expect(await findIds()).toEqual(['a-1', 'b-1']);
    await apply([catalog('a', { resources: [plain('a-1')] })]);
    expect(await findIds()).toEqual(['b-1']);
    await apply([
      catalog('b', { resources: [plain('b-1')], offers: [offer('b-o', { resourceIds: ['a-1'], ...night })] }),
    ]);
    expect(await findIds()).toEqual(['a-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('waits for the validity of an offer that has one', async () => {
    const [past, future] = ['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z'];
    const withValidity = (startDate: string) =>
      catalog('a', {
        resources: [plain('a-1')],
        offers: [offer('a-o', { ...night, validity: { startDate } })],
      });
    await apply([withValidity(future)]);
    expect(await findIds()).toEqual([]);
    await apply([withValidity(past)]);
    expect(await findIds()).toEqual(['a-1']);
  });
});

describe('catalogs of one provider', () => {
  const provider = { id: 'p', descriptor: { name: 'Provider' } };
  const sibling = (id: string, more: Partial<Catalog> = {}) =>
    catalog(id, { provider, resources: [plain(`${id}-1`)], ...more });
  const withOffer = { offers: [offer('o', night)] };

  it('share their standing offers, whichever of them comes first, until they part', async () => {
    await apply([sibling('a', withOffer)]);
    expect(await readSiblings()).toEqual([]);
    await apply([sibling('b')]);
    await apply([sibling('c')]);
    expect(await readSiblings()).toEqual(['a', 'b', 'c']);
    expect(await findIds()).toEqual(['a-1', 'b-1', 'c-1']);
    await apply([catalog('b', { resources: [plain('b-1')] })]);
    expect(await findIds()).toEqual(['a-1', 'c-1']);
    await remove(['c']);
    expect(await readSiblings()).toEqual([]);
    expect(await findIds()).toEqual(['a-1']);
    expect(await findDifferences()).toEqual([]);
  });

  it('know of each other when two transactions bring them at once', async () => {
    await applyAtOnce(sibling('a', withOffer), sibling('b'));
    expect(await readSiblings()).toEqual(['a', 'b']);
    expect(await findIds()).toEqual(['a-1', 'b-1']);
  });

  it('are found by the words of older entries before, during and after the rebuild', async () => {
    await setVersion(1);
    await apply([
      sibling('a', withOffer),
      sibling('b'),
      catalog('c', { resources: [plain('c-1')], ...withOffer }),
    ]);
    // Code of that version did not write it.
    await indexed.database.query('delete from discovery.run where list = $1', [siblingList]);
    const expected = ['a-1', 'b-1', 'c-1'];
    expect(await findIds()).toEqual(expected);
    for (let step = 0; step < 2; step++)
      await advanceVersion(indexed.database, indexFormats, { graceMs: -1 });
    expect(await readSiblings()).toEqual(['a', 'b']);
    while (await rebuildNext(indexed.database, indexFormats, newestOf(indexFormats).version, 1))
      expect(await findIds()).toEqual(expected);
    expect(await findDifferences()).toEqual([]);
    expect(await countStanding()).toBe(2);
  });

  it('are mended where it was lost that they are siblings', async () => {
    await apply([sibling('a', withOffer), sibling('b')]);
    await indexed.database.query('delete from discovery.run where list = $1', [siblingList]);
    expect(await findDifferences()).toHaveLength(2);
    await findDifferences({ mend: true });
    expect(await findDifferences()).toEqual([]);
    expect(await readSiblings()).toEqual(['a', 'b']);
  });
});

function shops(from: number, to: number): Catalog[] {
  return Array.from({ length: to - from }, (_, index) =>
    catalog(`s${from + index}`, { resources: [plain(`s${from + index}-1`)], offers: [offer('o', night)] }),
  );
}

async function countStanding(): Promise<number> {
  const { rows } = await indexed.database.query<{ count: number }>(
    'select count(*) from discovery.offer where is_standing',
  );
  return Number(rows[0]?.count);
}
