import { expect, it } from 'vitest';
import { catalog, offer, plain } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useWatchedSearch } from '../../../tests/support/search/watched-search.ts';

// Member names with the control characters that separate the steps of a path in facts.

const search = useWatchedSearch();
const find = (expression: string) => search.find({ filters: { type: 'jsonpath', expression } });
const other = 'other.example/reg';

it('a catalog does not pass for one of another provider by the name of a member', async () => {
  await search.apply([catalog('real')]);
  await search.apply([{ ...catalog('forged'), 'provider\u0001id': 'real-provider' } as never], other);
  const found = await find('$.catalogs[?@.provider.id == "real-provider"]');
  expect(found).toMatchObject({ ids: ['real-1'], total: 1 });
});

it('an offer does not pass for one with a price by the name of a member', async () => {
  const forged = { ...offer('forged'), 'price\u0001value': 'low' };
  await search.apply([catalog('c', { resources: [plain('r')], offers: [forged] })]);
  expect(await find('$.catalogs[*].offers[?@.price.value == "low"]')).toMatchObject({ total: 0 });
});

it('a resource does not pass for another by the name of a member, and no search is repeated for it', async () => {
  const [real, forged] = [
    { ...plain('real'), a: { b: 'x' } },
    { ...plain('forged'), 'a\u0001b': 'x' },
  ];
  await search.apply([catalog('c', { resources: [real] })]);
  await search.apply([catalog('d', { resources: [forged] })], other);
  let pages = 0;
  search.watch = (statement) => {
    if (statement.includes('with page as')) pages++;
  };
  expect(await find('$.catalogs[*].resources[?@.a.b == "x"]')).toMatchObject({ ids: ['real'], total: 1 });
  expect(pages).toBe(1);
});

it('a member whose name has such a character is found by its own name', async () => {
  const named = { ...plain('named'), 'a\u0001b': 'x', 'c=d': 'y' };
  await search.apply([catalog('c', { resources: [named] })]);
  for (const condition of ['@["a\\u0001b"] == "x"', '@["c=d"] == "y"'])
    expect(await find(`$.catalogs[*].resources[?${condition}]`)).toMatchObject({ ids: ['named'] });
});
