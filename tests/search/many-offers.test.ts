import fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Offer, TimePeriod } from '../../src/protocol/catalog.ts';
import { createSearch, type SearchService } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { useDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';
import { apply, compare, fill } from '../support/search/by-the-book.ts';
import type { KnownCatalog } from '../support/search/discover-oracle.ts';
import { arbitraryNow } from '../support/values/arbitrary-index.ts';

// Frequent words in offers: upper bounds select their resources, and the best are verified. And filters that many offers pass, which are read part by part.

let database: Database;
let threads: ThreadPool;
let service: SearchService;
useDatabase((opened) => {
  database = opened;
});
beforeAll(() => {
  threads = createThreadPool({ size: 1, logger: silentLogger() });
  const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}` });
  service = createSearch({ config, database, threads, now: () => arbitraryNow });
});
afterAll(() => threads.close());

const words = ['night', 'tariff', 'solar', 'roof', 'lounge'];
const word = fc.constantFrom(...words);
const validity: fc.Arbitrary<TimePeriod | undefined> = fc.constantFrom(
  undefined,
  undefined,
  { endDate: '2026-05-31' },
  { startDate: '2026-06-01' },
  { startTime: '22:00', endTime: '06:00' },
);
/** Mostly on resources of its own catalog; in one of twenty catalogs, also on a resource of another one. */
const reach = fc.record({
  named: fc.option(fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 4 }),
  abroad: fc.nat(200),
});
const drawn = fc.record({
  offers: fc.array(
    fc.record({
      name: fc.array(word, { minLength: 1, maxLength: 2 }),
      text: fc.option(word),
      validity,
      reach,
    }),
    { minLength: 1, maxLength: 3 },
  ),
  names: fc.array(fc.option(word, { nil: 'charger' }), { minLength: 1, maxLength: 4 }),
  owner: fc.constantFrom('one.example/reg', 'two.example/reg'),
  family: fc.nat(150),
});

const index = fc.array(drawn, { minLength: 200, maxLength: 240 }).map((all) =>
  all.map(({ offers, names, owner, family }, number): KnownCatalog => {
    const ids = names.map((_, at) => `r${number}-${at}`);
    return {
      owner,
      networkIds: [],
      type: 'REGULAR',
      catalog: {
        id: `c${number}`,
        descriptor: { name: 'List' },
        provider: { id: `p${family}`, descriptor: { name: 'House' } },
        resources: names.map((name, at) => ({ id: ids[at] ?? '', descriptor: { name: `Place ${name}` } })),
        offers: offers.map((each, at): Offer => {
          const named = each.reach.named?.map((position) => ids[position] ?? 'nowhere');
          const ofOthers = at === 0 && number % 20 === 0 ? [`r${each.reach.abroad}-0`] : [];
          return {
            id: `o${at}`,
            ...{ level: number % 7 },
            descriptor: { name: each.name.join(' '), ...(each.text && { longDesc: each.text }) },
            ...(named && { resourceIds: [...named, ...ofOthers] }),
            ...(each.validity && { validity: each.validity }),
          };
        }),
      },
    };
  }),
);
const asked = fc.array(fc.oneof(word, fc.constantFrom('charger', 'place', 'nihgt')), {
  minLength: 1,
  maxLength: 3,
});
const text = asked.map((all) => ({ textSearch: all.join(' ') }));
const filter = fc
  .oneof(
    word.map((name) => `@.descriptor.name == '${name}'`),
    fc
      .tuple(word, word)
      .map(([name, more]) => `@.descriptor.name == '${name}' && @.descriptor.longDesc == '${more}'`),
    word.map((name) => `@.descriptor.name != '${name}'`),
    fc.nat(5).map((level) => `@.level > ${level}`),
    word.map((name) => `search(@.descriptor.name, '${name}')`),
  )
  .map((condition) => ({
    filters: { type: 'jsonpath' as const, expression: `$.catalogs[*].offers[?${condition}]` },
  }));
const question = fc
  .record({
    intent: fc.oneof(
      text,
      filter,
      fc.tuple(text, filter).map(([one, other]) => ({ ...one, ...other })),
    ),
    limit: fc.constantFrom(1, 20, undefined),
    offset: fc.constantFrom(0, 7, 100),
  })
  .map((each) => ({ ...each, now: arbitraryNow }));

describe('words and values of very many offers', () => {
  it('find what a plain evaluation of every offer finds, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(
        index,
        fc.array(question, { minLength: 14, maxLength: 14 }),
        async (catalogs, questions) => {
          await fill({ database }, []);
          // In two transactions, so that offers meet earlier resources, and vice versa.
          await apply(database, catalogs.slice(0, 120));
          await apply(database, catalogs.slice(120));
          for (const each of questions) await compare(service, catalogs, each);
        },
      ),
      { numRuns: 2, endOnFailure: true },
    );
  });
});
