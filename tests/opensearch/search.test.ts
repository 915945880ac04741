import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/protocol/catalog.ts';
import type { Geometry } from '../../src/protocol/geojson.ts';
import { slotOf } from '../../src/search/opensearch/document.ts';
import { apply, compare } from '../support/search/by-the-book.ts';
import type { KnownCatalog } from '../support/search/discover-oracle.ts';
import {
  type Cluster,
  feedSearch,
  obstacle,
  openSearchSettings,
  startCluster,
  startFedSearch,
} from '../support/search/open-search.ts';
import { arbitraryNow, sampleIndex } from '../support/values/arbitrary-index.ts';

const index = sampleIndex();
const everything = { message: { intent: {} }, scope: {} };

describe.skipIf(obstacle)('a search in OpenSearch (needs Java 17 and Maven)', () => {
  let cluster: Cluster;
  let fed: Awaited<ReturnType<typeof startFedSearch>>;

  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());
  beforeEach(async () => {
    fed = await startFedSearch(openSearchSettings(cluster.urls));
  });
  afterEach(() => fed.close());

  async function fill(known: readonly KnownCatalog[]): Promise<void> {
    await apply(fed.database, known);
    const feeding = await feedSearch(fed.service);
    await feeding.catchUp().finally(feeding.close);
  }

  it('answers a filter with more conditions than OpenSearch accepts', async () => {
    await fill(index);
    const [first] = (await fed.service.search(everything)).answer.ranking;
    const ids = [...Array.from({ length: 1_100 }, (_, n) => `none-${n}`), first?.resourceId];
    const conditions = ids.map((id) => `@.id == '${id}'`).join(' || ');
    const filters = { type: 'jsonpath' as const, expression: `$.catalogs[*].resources[?${conditions}]` };
    const { answer } = await fed.service.search({ message: { intent: { filters } }, scope: {} });
    expect(answer.ranking.map(({ resourceId }) => resourceId)).toContain(first?.resourceId);
  });

  it('answers a filter with more ranges than OpenSearch accepts', async () => {
    await fill(index);
    const ranges = Array.from({ length: 600 }, (_, n) => `@.${n === 0 ? 'price' : `none${n}`} > -${n}`);
    const filters = {
      type: 'jsonpath' as const,
      expression: `$.catalogs[*].resources[?${ranges.join(' || ')}]`,
    };
    await compare(fed.service, index, { intent: { filters }, now: arbitraryNow });
  });

  it('answers a filter with more alternatives of several conditions than OpenSearch accepts', async () => {
    await fill(index);
    const [first] = (await fed.service.search(everything)).answer.ranking;
    const ids = [...Array.from({ length: 1_100 }, (_, n) => `none-${n}`), first?.resourceId];
    const conditions = ids.map((id) => `(@.id == '${id}' && @.descriptor)`).join(' || ');
    const expression = `$.catalogs[*].resources[?${conditions}]`;
    await compare(fed.service, index, {
      intent: { filters: { type: 'jsonpath', expression } },
      now: arbitraryNow,
    });
  });

  it('answers a page far behind the last one', async () => {
    await fill(index);
    const { answer } = await fed.service.search({
      message: { intent: {}, limit: 10, offset: 3_000_000_000 },
      scope: {},
    });
    expect(answer.ranking).toEqual([]);
  });

  /** Catalogs of one resource; each has a provider and a resource with some geometry. */
  const placed = (geometries: readonly { provider?: Geometry; resource?: object; name?: string }[]) =>
    geometries.map(({ provider, resource = {}, name = 'tea' }, n) => ({
      ...{ owner: 'one.example/reg', networkIds: [], type: 'REGULAR' as const },
      catalog: {
        id: `c${n}`,
        descriptor: { name: 'Shop' },
        provider: {
          id: 'p',
          descriptor: { name: 'Provider' },
          ...(provider && { availableAt: [{ geo: provider }] }),
        },
        resources: [{ id: `r${n}`, descriptor: { name }, ...resource }],
      } as unknown as Catalog,
    }));
  const targets = '$.catalogs[*].provider.availableAt[*].geo';
  const here: Geometry = { type: 'Point', coordinates: [77.6, 12.97] };
  const far: Geometry = { type: 'Point', coordinates: [70, 20] };
  const within = {
    op: 'S_DWITHIN' as const,
    operator: 'S_DWITHIN',
    targets,
    geometry: here,
    distanceMeters: 2_000,
  };

  it('counts and orders by the path that was asked for, also if another one has the same field', async () => {
    const path = (name: string) => `$.catalogs[*].resources[*].${name}`;
    const twin = Array.from({ length: 1_000 }, (_, n) => `at${n}`).find(
      (name) => slotOf(path(name)) === slotOf(targets),
    );
    const known = placed([
      ...Array.from({ length: 5 }, () => ({ provider: here, resource: { [`${twin}`]: far } })),
      ...Array.from({ length: 40 }, () => ({ provider: far, resource: { [`${twin}`]: here } })),
      ...Array.from({ length: 40 }, () => ({ resource: { [`${twin}`]: here } })),
    ]);
    await fill(known);
    for (const limit of [2, 50])
      await compare(fed.service, known, {
        intent: { spatial: [within] } as never,
        ...{ limit, offset: 0, now: arbitraryNow },
      });
  });

  it('counts lines that are near, also among resources that have fewer of the words', async () => {
    const around = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => {
        const bent = n % 3 === 0 ? [77.6, 12.97] : [77.63, 13.0];
        const coordinates = [[77.57, 13.0], bent, [77.63, 12.94]];
        return { provider: { type: 'LineString', coordinates } as Geometry, name };
      });
    const points = Array.from({ length: 20 }, (_, n) => {
      const provider: Geometry = { type: 'Point', coordinates: [77.6 + n / 2_000, 12.97] };
      return { provider, name: 'tea charger' };
    });
    const known = placed([...points, ...around('tea charger', 6), ...around('tea', 30)]);
    await fill(known);
    for (const limit of [3, 100])
      await compare(fed.service, known, {
        intent: { textSearch: 'tea charger', spatial: [within] } as never,
        ...{ limit, offset: 0, now: arbitraryNow },
      });
  });

  it.each([
    ['two places', [within, { ...within, distanceMeters: 3_000, geometry: far }]],
    ['half of the globe', [{ ...within, distanceMeters: 12_000_000 }]],
    ['a target that no document has', [{ ...within, targets: '$..geo' }]],
    ['several targets', [{ ...within, targets: [targets, '$.catalogs[*].resources[*].at'] }]],
  ])('counts only matches of %s', async (_what, spatial) => {
    const pointAt = (...coordinates: number[]): Geometry => ({ type: 'Point', coordinates });
    const lineTo = (...end: number[]): Geometry => ({ type: 'LineString', coordinates: [[77.57, 13], end] });
    // No two distances are the same.
    const somewhere = (n: number) => [
      pointAt(77.6 + n / 9_000, 12.97),
      far,
      pointAt(-102, -12),
      lineTo(77.63, 13),
    ];
    const known = placed(
      Array.from({ length: 16 }, (_, n) => {
        const [provider, at] = [somewhere(n)[n >> 2], somewhere(n + 16)[n % 4]];
        return { provider, resource: { at } };
      }),
    );
    await fill(known);
    for (const limit of [3, 100])
      await compare(fed.service, known, {
        intent: { spatial } as never,
        ...{ limit, offset: 0, now: arbitraryNow },
      });
  });

  it('counts many places without the lines that turn out to be too far', async () => {
    const bent = {
      type: 'LineString',
      coordinates: [
        [77.585, 13.0],
        [77.63, 13.0],
        [77.63, 12.955],
      ],
    };
    const [one] = placed([{}]);
    const resources = Array.from({ length: 1_200 }, (_, n) => {
      const at = n < 60 ? bent : { type: 'Point', coordinates: [77.6 + n / 1_000_000, 12.97] };
      return { id: `r${n}`, descriptor: { name: 'tea' }, at };
    });
    const known = [{ ...one, catalog: { ...one?.catalog, resources } }] as unknown as KnownCatalog[];
    await fill(known);
    const spatial = [{ ...within, targets: '$.catalogs[*].resources[*].at' }];
    const { answer } = await fed.service.search({
      message: { intent: { spatial } as never, limit: 10 },
      scope: {},
    });
    expect(answer.ranking.length).toBe(10);
    expect(answer.total).toBeGreaterThanOrEqual(1_000);
  });
});
