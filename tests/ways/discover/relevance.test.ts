import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Shop, startShop } from '../../support/search/shop.ts';

// A small hand-made shop in several languages (tests/fixtures/relevance): whether the intended products come first, measured by grades and by cases
// of meaning. The floors may only rise; a change that loses one of the cases says so. bench/scenarios/relevance.mjs measures real products with human
// judgements.

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

it('orders answers as people would', async () => {
  const values: number[] = [];
  for (const [query, grades] of shop.queries) {
    const { ndcg } = shop.measureQuery(await shop.find(query), grades);
    if (ndcg !== undefined) values.push(ndcg);
  }
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean).toBeGreaterThan(0.94);
});

it('finds first what was meant', async () => {
  const missed: string[] = [];
  for (const { kind, query, meant } of shop.meanings) {
    const [first] = await shop.find(query);
    if (!meant.includes(first ?? '')) missed.push(`${kind}: ${query} finds ${first}, not ${meant[0]}`);
  }
  expect(missed).toEqual([]);
});

it('says by which form a word matched', async () => {
  expect(await shop.explain('batteries powerbank keybaord atta toothbr')).toMatchObject([
    {
      word: 'batteries',
      standsFor: [
        { word: 'batteries', form: 'exact' },
        { word: 'battery', form: 'inflected' },
      ],
    },
    { word: 'power', standsFor: [{ form: 'part' }] },
    { word: 'bank', standsFor: [{ form: 'part' }] },
    { word: 'keybaord', standsFor: [{ word: 'keyboard', form: 'misspelt' }] },
    { word: 'atta', standsFor: [{ word: 'आटा', form: 'other script' }] },
    { word: 'toothbr', standsFor: [{ word: 'toothbrush', form: 'begun' }] },
  ]);
  expect(await shop.why('batteries car', 'car-battery')).toContain(
    'It has the words batteries (inflected: battery), car.',
  );
});
