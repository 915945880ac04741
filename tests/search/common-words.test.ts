import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { createSearch, type SearchContext } from '../../src/search/port.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createThreadPool } from '../../src/thread-pool.ts';
import { catalog, plain } from '../support/catalogs/sample-catalogs.ts';
import { createTestDatabase } from '../support/database/database.ts';
import { patienceMs } from '../support/patience.ts';
import { apply, compare, fill } from '../support/search/by-the-book.ts';
import { compactLists } from '../support/search/compact-lists.ts';
import type { KnownCatalog } from '../support/search/discover-oracle.ts';
import { arbitraryNow } from '../support/values/arbitrary-index.ts';

// Words whose lists have more runs than are read at once: candidates come from the rarest word, part by part; the lists of the others are probed in
// the runs around these.

const words = ['harbour', 'garden', 'station', 'quiet', 'northern', 'lamps', 'lamp', 'ferry'];
const name = fc.uniqueArray(fc.constantFrom(...words), { maxLength: 4 }).map((some) => some.join(' '));
const index = fc.array(fc.record({ head: name, resources: fc.array(name, { minLength: 1, maxLength: 4 }) }), {
  minLength: 25,
  maxLength: 45,
});
const colours = 9;
const question = fc.record({
  text: fc.uniqueArray(fc.constantFrom(...words, 'lanp', 'nowhere'), { minLength: 1, maxLength: 5 }),
  limit: fc.constantFrom(1, 5, 20, 1_000),
  offset: fc.constantFrom(0, 0, 3, 30),
  // A filter that few resources pass leads: then the words are only checked among those.
  colour: fc.option(fc.nat(colours - 1), { nil: undefined }),
});

it.each([
  ['with caches', '100'],
  ['without caches', '0'],
])(
  'a text is answered by the book from lists of many runs, while they grow and are compacted, %s',
  async (_, percent) => {
    const home = await createTestDatabase();
    const logger = silentLogger();
    const database = await openDatabase({ url: home.url, logger, maxConnections: 4 });
    const threads = createThreadPool({ size: 1, logger });
    const config = readConfig({ DISCOVER_TIMEOUT_MS: `${patienceMs}`, SEARCH_CACHE_PERCENT: percent });
    const context: SearchContext = { config, database, threads, now: () => arbitraryNow };
    const service = createSearch(context);
    try {
      await fc.assert(
        fc.asyncProperty(
          index,
          fc.array(question, { minLength: 12, maxLength: 12 }),
          async (all, questions) => {
            const known = all.map(toKnown);
            await fill(context, []);
            for (const [at, each] of known.entries()) {
              await apply(database, [each]);
              const asked = questions[at];
              if (at > 12 && asked) await ask(known.slice(0, at + 1), asked);
            }
            const { rows } = await database.query<{ most: number }>(
              'select max(runs) as most from (select count(*) as runs from index_1.run group by list) as lists',
            );
            expect(rows[0]?.most).toBeGreaterThan(8);
            for (const [at, asked] of questions.entries()) {
              if (at === questions.length / 2) await compactLists(database);
              await ask(known, asked);
            }
          },
        ),
        { numRuns: 4, endOnFailure: true },
      );
    } finally {
      await threads.close();
      await database.close();
      await home.drop();
    }

    async function ask(
      known: readonly KnownCatalog[],
      { text, colour, ...paging }: { text: string[]; colour: number | undefined },
    ): Promise<void> {
      const expression = `$.catalogs[*].resources[?@.colour == 'c${colour}']`;
      const filters = colour === undefined ? {} : { filters: { type: 'jsonpath' as const, expression } };
      const intent = { textSearch: text.join(' '), ...filters };
      await compare(service, known, { intent, now: arbitraryNow, ...paging });
    }
  },
);

function toKnown({ head, resources }: { head: string; resources: string[] }, index: number): KnownCatalog {
  const id = `c${index}`;
  return {
    owner: 'provider.example/reg',
    networkIds: ['net.example/one'],
    type: 'REGULAR',
    catalog: catalog(id, {
      descriptor: { name: head || 'Anything' },
      provider: { id: `p${index}`, descriptor: { name: 'House' } },
      resources: resources.map((text, number) => ({
        ...plain(`${id}-r${number}`, text || 'Thing'),
        colour: `c${(index + number) % colours}`,
      })),
    }),
  };
}
