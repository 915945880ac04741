import { describe, expect, it } from 'vitest';
import { catalog, plain } from '../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../tests/support/database/database.ts';
import { silentLogger } from '../logger.ts';
import type { ReceivedCatalog } from '../protocol/catalog.ts';
import type { Database } from '../storage/database.ts';
import { applyPulled, type PulledPage } from './apply-pulled.ts';
import type { DiscoveryContext } from './context.ts';
import { inlineParts, type PulledPart } from './pulled-parts.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.catalog, discovery.resource, index_1.run, discovery.feed cascade' },
);

const sentAt = new Date('2026-01-31T12:00:00Z');
/** More than one group. */
const many = Array.from({ length: 450 }, (_, index) => named(`c${index}`, 'first'));

describe('a page of a pull', () => {
  it('is applied whole, of two copies of a catalog in it the later one', async () => {
    const page = [...many, named('c3', 'second'), named('c449', 'second')];
    const outcome = await apply(inlineParts(page));
    expect(outcome).toMatchObject({ catalogs: 452, written: 452, skipped: 0 });
    const { rows } = await database.query<{ id: string }>(
      "select id from discovery.resource where document #>> '{descriptor,name}' = 'second' order by id",
    );
    expect(rows).toEqual([{ id: 'c3-r' }, { id: 'c449-r' }]);
    expect((await database.query('select from discovery.resource')).rowCount).toBe(450);
  });

  it('fails where one of its groups does, once all that are under way have ended', async () => {
    let begun = 0;
    let ended = 0;
    const failing: Database = Object.create(database, {
      transaction: {
        async value(...asked: Parameters<Database['transaction']>) {
          begun += 1;
          if (begun === 1) throw new Error('this group cannot be written');
          await database.transaction(...asked);
          ended += 1;
        },
      },
    });
    await expect(apply(inlineParts(many), { database: failing })).rejects.toThrow(
      'this group cannot be written',
    );
    expect(ended).toBe(begun - 1);
  });

  it('tells every ten seconds how far it went', async () => {
    let now = sentAt;
    async function* parts(): AsyncGenerator<PulledPart> {
      for await (const part of inlineParts(many.slice(0, 7))) {
        now = new Date(now.getTime() + 4_000);
        yield part;
      }
    }
    const lines: object[] = [];
    const logger = Object.assign(Object.create(silentLogger()), {
      info: (details: object, text: string) => void lines.push({ text, ...details }),
    });
    await apply(parts(), { now: () => now, logger });
    expect(lines).toMatchObject([
      { text: 'pulling', service: 'catalog.example/reg', catalogs: 2 },
      { text: 'pulling', service: 'catalog.example/reg', catalogs: 5 },
    ]);
  });
});

function named(id: string, name: string): ReceivedCatalog {
  return catalog(id, { resources: [plain(`${id}-r`, name)] });
}

async function apply(parts: AsyncIterable<PulledPart>, own: Partial<DiscoveryContext> = {}) {
  const { rows } = await database.query<{ id: number }>(
    "insert into discovery.feed (catalog_url, network_id, schema_types, position) values ('https://catalog.example', 'a/x', '{}', 1) returning id",
  );
  const context = {
    database,
    logger: silentLogger(),
    now: () => sentAt,
    config: { REGISTRY_NAME: 'reg' },
    ...own,
  };
  const page: PulledPage = {
    ...{
      feedId: rows[0]?.id ?? 0,
      run: '6f7e33bc-6a4e-4a0c-8f4b-3c2f0c9f7a11',
      service: 'catalog.example/reg',
    },
    ...{ networkId: 'a/x', sentAt, typeOf: () => 'REGULAR' as const },
  };
  return applyPulled(context as DiscoveryContext, page, parts, new AbortController().signal);
}
