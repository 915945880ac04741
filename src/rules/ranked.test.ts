import { describe, expect, it } from 'vitest';
import { catalog, plain } from '../../tests/support/catalogs/sample-catalogs.ts';
import { listRanked } from './ranked.ts';

const line = (catalogId: string, resourceId: string, distanceMeters?: number) => ({
  ...{ catalogId, resourceId },
  ...(distanceMeters !== undefined && { distanceMeters }),
});
const of = (id: string, owner: string, ...resources: string[]) => ({
  ...catalog(id, { resources: resources.map((each) => plain(each)) }),
  bppId: owner,
});
const show = (answer: Parameters<typeof listRanked>[0]) =>
  listRanked(answer).map(({ catalog: { bppId }, resource: { id }, distanceMeters }) =>
    [bppId, id, distanceMeters].join(' ').trim(),
  );

describe('the resources of an answer', () => {
  it('come in the order of the ranking, with what it says of them', () => {
    const catalogs = [of('a', 'one', 'near', 'far'), of('b', 'two', 'middle')];
    const ranking = [line('a', 'near', 10), line('b', 'middle', 20), line('a', 'far', 30)];
    expect(show({ catalogs, ranking })).toEqual(['one near 10', 'two middle 20', 'one far 30']);
    const [first] = listRanked({ catalogs, ranking: [{ ...line('b', 'middle'), rank: 7 }] });
    expect(first).toEqual({ catalog: catalogs[1], resource: plain('middle'), rank: 7 });
  });

  it('come catalog by catalog without a ranking, and after all others where it leaves them out', () => {
    const catalogs = [
      of('a', 'one', 'x', 'y'),
      of('b', 'two', 'z'),
      { ...of('c', 'three'), resources: undefined },
    ];
    expect(show({ catalogs })).toEqual(['one x', 'one y', 'two z']);
    expect(show({ catalogs, ranking: [line('b', 'z')] })).toEqual(['two z', 'one x', 'one y']);
  });

  it('have each their own line, where two owners use the same ids', () => {
    const catalogs = [of('chargers', 'one', '1', '2'), of('chargers', 'two', '1')];
    const ranking = [
      line('chargers', '1', 3_600),
      line('chargers', '2', 4_000),
      line('chargers', '1', 4_100),
    ];
    expect(show({ catalogs, ranking })).toEqual(['one 1 3600', 'one 2 4000', 'two 1 4100']);
  });
});
