import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Offer, Resource } from '../../../src/protocol/catalog.ts';
import { type Discovering, resourceIds, startDiscovering } from '../../support/network/discover.ts';
import type { TestNetwork } from '../../support/network/network.ts';

let network: TestNetwork;
let hold: Discovering['hold'];
let discover: Discovering['discover'];
let found: Discovering['found'];

beforeAll(async () => {
  ({ network, hold, discover, found } = await startDiscovering());
});
afterAll(() => network.close());

describe('a spatial constraint', () => {
  const providerGeo = '$.catalogs[*].provider.availableAt[*].geo';
  const at = (...coordinates: number[]) => ({ geo: { type: 'Point' as const, coordinates } });
  const placed = (id: string, ...availableAt: ReturnType<typeof at>[]) => ({
    id,
    provider: { id, descriptor: { name: id }, availableAt },
    resources: [{ id: `${id}-1` }, { id: `${id}-2` }],
  });
  const spatial = (...entries: object[]) => ({
    intent: { spatial: entries.map((entry) => ({ targets: providerGeo, ...entry })) },
  });
  const near = (coordinates: number[], distanceMeters: number, more: object = {}) => ({
    op: 's_dwithin',
    geometry: { type: 'Point', coordinates },
    distanceMeters,
    ...more,
  });
  const square = (west: number, south: number, size: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [west + size, south],
        [west + size, south + size],
        [west, south + size],
        [west, south],
      ],
    ],
  });

  beforeAll(() =>
    hold([
      placed('here', at(10, 50)),
      placed('near', at(10.01, 50)),
      placed('far', at(11, 50)),
      placed('both', at(10.02, 50), at(20, 50)),
      placed('dateline', at(-179.99, 0)),
      {
        id: 'shaped',
        resources: [{ id: 'shaped-1', area: square(30, 10, 1) } as Resource],
        offers: [
          { id: 'local', resourceIds: ['shaped-1'], area: square(40, 10, 1) } as Offer,
          { id: 'abroad', resourceIds: ['here-1'], area: square(50, 10, 1) } as Offer,
        ],
      },
    ]),
  );

  it('finds what lies within a radius, the nearest first', async () => {
    expect(resourceIds(await found(spatial(near([10.009, 50], 5_000))))).toEqual([
      ...['near-1', 'near-2', 'here-1', 'here-2', 'both-1', 'both-2'],
    ]);
    expect(resourceIds(await found(spatial(near([179.99, 0], 3_000))))).toEqual(['dateline-1', 'dateline-2']);
  });

  it('quantifies over several geometries, and never matches where there is none', async () => {
    const all = near([10.02, 50], 800, { quantifier: 'all' });
    expect((await discover(spatial(near([20, 50], 800, { quantifier: 'ALL' })))).status).toBe(202);
    expect(resourceIds(await found(spatial(all)))).toEqual(['near-1', 'near-2']);
    expect(
      resourceIds(
        await found(spatial(near([10, 50], 100_000, { quantifier: 'NONE' }), near([0, 0], 30_000_000))),
      ),
    ).toEqual(['dateline-1', 'dateline-2']);
  });

  it('knows other operators, and geometries of resources and offers', async () => {
    const within = { op: 'S_WITHIN', geometry: square(9.995, 49, 2) };
    expect(resourceIds(await found(spatial(within)))).toEqual([
      ...['here-1', 'here-2', 'near-1', 'near-2', 'far-1', 'far-2', 'both-1', 'both-2'],
    ]);
    const covers = (targets: string, coordinates: number[]) =>
      spatial({ op: 'S_CONTAINS', targets, geometry: { type: 'Point', coordinates } });
    expect(resourceIds(await found(covers("$['catalogs'][*].resources[*]['area']", [30.5, 10.5])))).toEqual([
      'shaped-1',
    ]);
    const ofOffers = '$.catalogs[*].offers[*].area';
    expect(resourceIds(await found(covers(ofOffers, [40.5, 10.5])))).toEqual(['shaped-1']);
    // An offer that names resources of another catalog finds none of them.
    expect(await discover(covers(ofOffers, [50.5, 10.5]))).toMatchObject({ status: 202 });
    const disjoint = { op: 'S_DISJOINT', geometry: square(-10, 0, 60) };
    expect(resourceIds(await found(spatial(disjoint)))).toEqual(['dateline-1', 'dateline-2']);
  });

  it('yields nothing under an unknown target', async () => {
    const answer = await discover(
      spatial({ ...near([10, 50], 5_000), targets: '$.catalogs[*].provider.geo' }),
    );
    expect(answer).toMatchObject({
      status: 202,
      body: { message: { error: { code: 'BIZ_NO_RESULTS_FOUND' } } },
    });
  });

  it('combines with text and filter', async () => {
    const intent = {
      ...spatial(near([10, 50], 5_000)).intent,
      textSearch: 'near both',
      filters: { type: 'jsonpath', expression: "$.catalogs[*].resources[?search(@.id, '-1')]" },
    };
    expect(resourceIds(await found({ intent })).sort()).toEqual(['both-1', 'near-1']);
  });
});
