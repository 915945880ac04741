import { setImmediate as immediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { catalog, charger, offer } from '../../../tests/support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { countRowsRead } from '../../../tests/support/database/rows-read.ts';
import { readIndexContent } from '../../../tests/support/search/index-content.ts';
import { laterFormat, laterFormats, otherWeights } from '../../../tests/support/search/index-formats.ts';
import { until } from '../../../tests/support/time.ts';
import { readConfig } from '../../config.ts';
import { silentLogger } from '../../logger.ts';
import { createMetrics } from '../../metrics.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { createThreadPool } from '../../thread-pool.ts';
import { type IndexFormats, indexFormats, newestOf } from '../format/index-format.ts';
import { createSearch } from '../port.ts';
import { readIndexStatus } from '../status.ts';
import type { IncomingCatalog } from '../write/target.ts';
import { writeIndex } from '../write/write-index.ts';
import { advanceVersion, takeLease } from './index-state.ts';
import { maintainIndex } from './maintain.ts';
import { announceProcess } from './processes.ts';
import { rebuildNext, rebuildOutdated } from './rebuild.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const [current, later] = [newestOf(indexFormats).version, laterFormat.version];
const tables = 'catalog, resource, offer, offer_target, run, geometry, index_process'
  .split(', ')
  .map((name) => `discovery.${name}`);

beforeEach(async () => {
  await database.query(`truncate ${tables} restart identity cascade`);
  await setState(current);
});

describe('a rebuild of the index', () => {
  it('brings every catalog to the entries that the newer code makes, and stores them', async () => {
    const expected = await fillWith(laterFormats, later);
    await fillWith(laterFormats, current);
    expect(await readIndexContent(database)).not.toEqual(expected);
    await rebuild(laterFormats);
    expect(await readIndexContent(database)).toEqual(expected);
    expect(await versions()).toEqual([later, later, later]);
  });

  it('follows where only the weights of fields have changed', async () => {
    const expected = await fillWith(otherWeights, later);
    await fillWith(otherWeights, current);
    expect(await readIndexContent(database)).not.toEqual(expected);
    await rebuild(otherWeights);
    expect(await readIndexContent(database)).toEqual(expected);
  });

  it('stores the words of offers from before they were stored, and changes no list', async () => {
    const expected = await fillWith(indexFormats, current);
    await setState(0);
    await database.query('update discovery.catalog set index_version = 0');
    await database.query('update discovery.offer set words = null');
    await rebuild(indexFormats);
    expect(await readIndexContent(database)).toEqual(expected);
    expect(await versions()).toEqual([current, current, current]);
  });

  it('goes catalog by catalog, the newest first, and goes on where another process left off', async () => {
    await fillWith(laterFormats, current);
    await setState(later);
    const seen = [];
    while (await rebuildNext(database, laterFormats, later, 3)) seen.push(await versions());
    expect(seen[0]).toEqual([current, current, current]);
    expect(seen).toContainEqual([current, current, later]);
    expect(seen).toContainEqual([current, later, later]);
    expect(seen.at(-1)).toEqual([later, later, later]);
  });

  it('takes several short transactions for a large catalog, between which it may be written and searched', async () => {
    const expected = await fillWith(laterFormats, later, 'renamed');
    await fillWith(laterFormats, current);
    await setState(later);
    await rebuildNext(database, laterFormats, later, 2);
    const { rows } = await database.query(
      'select reindexed_below from discovery.catalog order by key desc limit 1',
    );
    expect(rows).toEqual([{ reindexed_below: 3 }]);
    expect(await readIndexStatus(database, laterFormats)).toMatchObject({
      begun: [{ id: 'c3', documents: 2 }],
    });
    await apply(laterFormats, 'renamed');
    while (await rebuildNext(database, laterFormats, later, 2));
    expect(await readIndexContent(database)).toEqual(expected);
  });

  it('passes over a catalog that is just being written, and comes back to it', async () => {
    await fillWith(laterFormats, current);
    await setState(later);
    await database.transaction(async (tx) => {
      await tx.query("select from discovery.catalog where id = 'c3' for update");
      while (await rebuildNext(database, laterFormats, later));
    });
    expect(await versions()).toEqual([later, later, current]);
    await rebuild(laterFormats);
    expect(await versions()).toEqual([later, later, later]);
  });

  it('is done by one process at a time', async () => {
    await fillWith(laterFormats, current);
    const other = '6f7e33bc-6a4e-4a0c-8f4b-3c2f0c9f7a11';
    await takeLease(database, other);
    const { logger, lines } = keepLines();
    await rebuild(laterFormats, { logger });
    expect(await versions()).toEqual([current, current, current]);
    expect(lines).toEqual([]);
    await database.query("update discovery.index_state set leased_until = now() - interval '1 second'");
    await rebuild(laterFormats);
    expect(await versions()).toEqual([later, later, later]);
  });

  it('tells how far it went, in the log and in the metrics', async () => {
    await fillWith(laterFormats, current);
    const { logger, lines } = keepLines();
    const metrics = createMetrics({ process: false });
    await rebuild(laterFormats, { logger, metrics });
    expect(lines).toEqual(['rebuilding the index for another version', 'the index is rebuilt']);
    const text = await metrics.registry.metrics();
    expect(text).toContain('signpost_index_outdated_catalogs 0');
    expect(text).toContain('signpost_index_rebuilt_documents_total 12');
  });
});

describe('processes of two versions', () => {
  it('share the older form, and the rebuild waits until those of the older version have ended', async () => {
    await fillWith(laterFormats, current);
    const logger = silentLogger();
    const older = await announceProcess({ database, logger }, indexFormats);
    const newer = await announceProcess({ database, logger }, laterFormats);
    await rebuild(laterFormats);
    await apply(laterFormats, 'new', ['c4']);
    expect(await versions()).toEqual([current, current, current, current]);
    expect((await readIndexStatus(database, laterFormats)).processes).toHaveLength(2);
    await older.close();
    await rebuild(laterFormats);
    await apply(laterFormats, 'new', ['c5']);
    expect(await versions()).toEqual([later, later, later, later, later]);
    await newer.close();
  });

  it('are announced while their search service runs', async () => {
    const threads = createThreadPool({ size: 1, logger: silentLogger() });
    const config = readConfig({});
    const service = createSearch({ config, database, threads, now: () => new Date() });
    const running = await service.start({ logger: silentLogger() });
    const { processes } = await readIndexStatus(database);
    expect(processes).toEqual([
      expect.objectContaining({ version: current, name: expect.stringContaining(`${process.pid}`) }),
    ]);
    await running.close();
    await threads.close();
    expect((await readIndexStatus(database)).processes).toEqual([]);
  });

  it('count as ended when they were not heard of for two minutes', async () => {
    await fillWith(laterFormats, current);
    await database.query(
      `insert into discovery.index_process (id, name, version, seen_at)
       values (gen_random_uuid(), 'stopped', ${current}, now() - interval '121 seconds')`,
    );
    await rebuild(laterFormats);
    expect(await versions()).toEqual([later, later, later]);
  });

  it('never meet the other way round: one that is older than the index does not start', async () => {
    await fillWith(laterFormats, current);
    await rebuild(laterFormats);
    await expect(announceProcess({ database, logger: silentLogger() }, indexFormats)).rejects.toThrow(
      `The index has entries of version ${later}; this program knows 0, 1, 2, 3, and ${current}.`,
    );
  });

  it('learn of the next version as long before it is written as a search may take', async () => {
    await fillWith(laterFormats, current);
    const step = () => advanceVersion(database, laterFormats, { graceMs: 60_000 });
    expect(await step()).toEqual({ version: current, next: later });
    expect(await step()).toEqual({ version: current, next: later });
    await database.query("update discovery.index_state set next_since = now() - interval '61 seconds'");
    expect(await step()).toEqual({ version: later, next: later });
  });

  it('look at a few rows to see where the index stands, however many catalogs it has', async () => {
    await database.query(
      `insert into discovery.catalog (source, owner, id, type, head, head_digest, provider_id, schema_uses, schema_types, is_active, updated_at, index_version)
       select 'node', 'p', n, 'REGULAR', '{}', 0, '', '{}', '{}', true, now(), $1 from generate_series(1, 2000) as n`,
      [current],
    );
    const read = await countRowsRead(database, (counting) =>
      advanceVersion(
        { ...database, transaction: (work) => work(counting as Transaction) },
        ...([indexFormats, { graceMs: 0 }] as const),
      ),
    );
    expect(read).toBeLessThan(10);
  });

  it('write the newest version at once into an index with nothing in it', async () => {
    expect(await advanceVersion(database, laterFormats, { graceMs: 60_000 })).toEqual({
      version: later,
      next: later,
    });
  });
});

describe('a rebuild by hand', () => {
  it('makes the entries anew, whatever became of those that are there', async () => {
    const expected = await fillWith(indexFormats, current);
    await database.query('delete from discovery.run where list % 3 = 0');
    await database.query('delete from discovery.geometry');
    const rebuilt = await maintainIndex(database).rebuild({ graceMs: 0 });
    expect(rebuilt).toEqual({ version: current, catalogs: 3, documents: 12 });
    expect(await readIndexContent(database)).toEqual(expected);
  });

  it('of one catalog leaves the others alone', async () => {
    await fillWith(laterFormats, current);
    await advance(laterFormats);
    await maintainIndex(database, laterFormats).rebuild({ catalogId: 'c2', graceMs: 0 });
    expect(await versions()).toEqual([current, later, current]);
  });

  it('waits for a catalog that is just being written', async () => {
    await fillWith(laterFormats, current);
    let rebuilding: Promise<object> | undefined;
    await database.transaction(async (tx) => {
      await tx.query("select from discovery.catalog where id = 'c3' for update");
      rebuilding = maintainIndex(database, laterFormats).rebuild({ graceMs: 1 });
      await until(async () => {
        const waiting = await database.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return waiting.rowCount > 0;
      });
    });
    expect(await rebuilding).toMatchObject({ catalogs: 3, documents: 12 });
    expect(await versions()).toEqual([later, later, later]);
  });

  it('brings the index to the newest version of its program where nothing else runs, from several versions too', async () => {
    await fillWith(laterFormats, current);
    await database.query("update discovery.catalog set index_version = 0 where id = 'c2'");
    const rebuilt = await maintainIndex(database, laterFormats).rebuild({ graceMs: 50 });
    expect(rebuilt).toEqual({ version: later, catalogs: 3, documents: 12 });
    expect(await versions()).toEqual([later, later, later]);
  });
});

function keepLines() {
  const lines: string[] = [];
  const keep = (_details: object, text: string) => void lines.push(text);
  return { lines, logger: Object.assign(Object.create(silentLogger()), { info: keep, error: keep }) };
}

async function fillWith(formats: IndexFormats, version: number, name = 'first'): Promise<string[]> {
  await database.query(`truncate ${tables} restart identity cascade`);
  await setState(version);
  await apply(formats, name);
  const content = await readIndexContent(database);
  return content;
}

async function apply(formats: IndexFormats, name: string, ids = ['c1', 'c2', 'c3']): Promise<void> {
  const incoming = ids.map((id): IncomingCatalog => {
    const place = (n: number) => ({ geo: { type: 'Point', coordinates: [n, 10 + n] } });
    const resources = [1, 2, 3].map((n) => ({
      ...charger(`${id}-${n}`, { price: n, tags: ['fast', n], name }),
      places: [place(n)],
    }));
    return {
      ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR', networks: null, mode: 'FULL' },
      catalog: catalog(id, {
        descriptor: { name: `Chargers ${name}` },
        resources,
        offers: [offer(`${id}-o`, { resourceIds: [`${id}-1`], descriptor: { name: `${name} nights` } })],
      }),
    };
  });
  await database.transaction((tx) => writeIndex(tx, new Date(), ({ apply: add }) => add(incoming), formats));
}

async function setState(version: number): Promise<void> {
  await database.query('delete from discovery.index_state');
  await database.query('insert into discovery.index_state (version, next) values ($1, $1)', [version]);
}

async function advance(formats: IndexFormats): Promise<void> {
  await advanceVersion(database, formats, { graceMs: 0 });
  // The next moment of the database's clock.
  await immediate();
  await advanceVersion(database, formats, { graceMs: 0 });
}

async function rebuild(
  formats: IndexFormats,
  more: Partial<Parameters<typeof rebuildOutdated>[0]> = {},
): Promise<void> {
  await advance(formats);
  const context = { database, logger: silentLogger(), formats, graceMs: 0, ...more };
  await rebuildOutdated(context, new AbortController().signal);
}

async function versions(): Promise<number[]> {
  const { rows } = await database.query<{ index_version: number }>(
    'select index_version from discovery.catalog order by key',
  );
  return rows.map((row) => row.index_version);
}
