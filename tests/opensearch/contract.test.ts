import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Catalog } from '../../src/protocol/catalog.ts';
import { createSearch } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { useDatabase } from '../support/database/database.ts';
import { apply, compare, holdAgainstTheBook } from '../support/search/by-the-book.ts';
import type { KnownCatalog, Question } from '../support/search/discover-oracle.ts';
import { catchUp, needs, obstacle, openSearchSettings, useOpenSearch } from '../support/search/opensearch.ts';
import { arbitraryNow as now } from '../support/values/arbitrary-index.ts';

/** Always the same indexes and questions; the long form (npm run test:opensearch) draws new ones each time. */
const seed = 20_261_116;

describe.skipIf(obstacle)(`discover with OpenSearch${needs}`, () => {
  let url = '';
  let database: Database;
  useOpenSearch((running) => {
    url = running;
  });
  useDatabase((opened) => {
    database = opened;
  });

  it('answers what a plain evaluation of every document answers, before and after OpenSearch has caught up', async () => {
    const steps = await holdAgainstTheBook({
      ...{ indexes: 3, questions: 12, seed },
      settings: [openSearchSettings(url)],
      catchUp: (written) => catchUp(written, url),
    });
    // The others are filters that say nothing of single resources.
    expect(steps.get('ask opensearch')).toBeGreaterThan(35);
  });

  it('finds a resource by all that is said of it, of its catalog and provider, and of the offers that apply to it', async () => {
    const config = readConfig(openSearchSettings(url));
    const threads = createThreadPool({ size: 1, logger: silentLogger() });
    const service = createSearch({ config, database, threads, now: () => now });
    try {
      await apply(database, pantry);
      for (let round = 0; round < 2; round++) {
        for (const question of questions) {
          const steps = await compare(service, pantry, question);
          if (round > 0)
            expect(steps).toContainEqual(expect.objectContaining({ step: 'ask opensearch', changed: 0 }));
        }
        await catchUp(database, url);
      }
    } finally {
      await threads.close();
    }
  });
});

const pantry: KnownCatalog[] = [
  known('bread', {
    descriptor: { name: 'pantry' },
    resources: [
      resource('rye', 'sourdough', { places: [{ geo: point(180, 10) }], price: 1e-7, tags: ['a', null] }),
      resource('bun', 'brioche', { places: [{ geo: point(-179.999, 10) }], price: -3, tags: 'b' }),
      resource('pie', 'shortcrust', { places: [{ geo: point(30, 90) }], price: 12.5 }),
    ],
    offers: [offer('all', 'wholesale'), { ...offer('one', 'breakfast'), resourceIds: ['rye'] }],
  }),
  known('other', { resources: [resource('jam', 'damson')], offers: [] }),
  known('offers', {
    resources: [],
    offers: [offer('late', 'midnight'), { ...offer('slip', 'voucher'), resourceIds: ['bun'] }],
  }),
];

const words = [
  ...['pantry', 'bakery', 'sourdough', 'brioche', 'damson', 'wholesale', 'breakfast', 'brekfast'],
  ...['midnight', 'voucher', 'vouchers', 'damson voucher', 'nothing'],
];
const filters = [
  ...['@.price > 0', '@.price <= -3', '@.price == 12.5', '@.price > 1e-8 && @.price < 1e-6', '@.tags'],
  ...['@.tags[0] == "a"', '@.tags[?@ == null] || @.price == -3', '@.descriptor.name == "brioche"'],
].map((condition) => `$.catalogs[*].resources[?${condition}]`);
const resourceGeo = '$.catalogs[*].resources[*].places[*].geo';
const providerGeo = '$.catalogs[*].provider.availableAt[*].geo';
const questions: Question[] = [
  ...words.map((textSearch) => ({ now, intent: { textSearch } })),
  ...filters.map((expression) => ({ now, intent: { filters: { type: 'jsonpath' as const, expression } } })),
  ...[
    near(resourceGeo, [180, 10], 0),
    near(resourceGeo, [-180, 10], 200),
    near(resourceGeo, [-120, 89.9999], 50),
    near(providerGeo, [10, 50], 1_000),
    { ...near(resourceGeo, [180, 10], 1), quantifier: 'NONE' as const },
    { ...near(providerGeo, [10, 50], 0), op: 'S_DISJOINT' },
  ].map((constraint) => ({ now, intent: { spatial: [constraint] } })),
  {
    now,
    intent: {
      textSearch: 'wholesale',
      filters: { type: 'jsonpath', expression: filters[0] ?? '' },
      spatial: [near(resourceGeo, [180, 10], 20)],
    },
  },
];

function known(id: string, members: Partial<Catalog>): KnownCatalog {
  const provider = {
    id: 'p1',
    descriptor: { name: 'bakery' },
    availableAt: [{ geo: point(10, 50) }],
  };
  const catalog = { id, descriptor: { name: 'list' }, provider, ...members } as Catalog;
  return { owner: 'one.example/reg', networkIds: [], type: 'REGULAR', catalog };
}

function resource(id: string, name: string, more: object = {}) {
  return { id, descriptor: { name }, ...more };
}

function offer(id: string, name: string) {
  return { id, descriptor: { name } };
}

function point(longitude: number, latitude: number) {
  return { type: 'Point' as const, coordinates: [longitude, latitude] };
}

function near(targets: string, coordinates: number[], distanceMeters: number) {
  return { op: 'S_DWITHIN', targets, geometry: { type: 'Point' as const, coordinates }, distanceMeters };
}
