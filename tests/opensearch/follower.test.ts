import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { registerIndexCommand } from '../../src/cli/search-index.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import type { DiscoverMessage } from '../../src/protocol/discover-messages.ts';
import { indexFormats, newestOf } from '../../src/search/format/index-format.ts';
import { createClient, type OpenSearchClient } from '../../src/search/opensearch/client.ts';
import { NewerVersionWritten, OpenSearchFailure } from '../../src/search/opensearch/failure.ts';
import { rebuildIndex } from '../../src/search/opensearch/follower.ts';
import {
  listIndexes,
  readChanges,
  releaseLeases,
  takeLease,
} from '../../src/search/opensearch/index-rows.ts';
import { createSearch, rebuildOpenSearch, writeIndex } from '../../src/search/port.ts';
import type { Database } from '../../src/storage/database.ts';
import { createThreadPool, type ThreadPool } from '../../src/thread-pool.ts';
import { catalog } from '../support/catalogs/sample-catalogs.ts';
import { useDatabase } from '../support/database/database.ts';
import { runCommand } from '../support/processes/command.ts';
import { fill } from '../support/search/by-the-book.ts';
import {
  catchUp,
  followToEnd,
  needs,
  obstacle,
  openSearchSettings,
  useOpenSearch,
} from '../support/search/opensearch.ts';
import { until } from '../support/time.ts';

const logger = silentLogger();
const formats = indexFormats;
// Longer than our other tests: all of it needs the one OpenSearch that it starts.

const everything = { match_all: {} };
type Intent = DiscoverMessage['intent'];

describe.skipIf(obstacle)(`the follower of OpenSearch${needs}`, () => {
  let url = '';
  let database: Database;
  let client: OpenSearchClient;
  useOpenSearch((running) => {
    url = running;
  });
  useDatabase((opened) => {
    database = opened;
  });
  beforeEach(() => fill({ database }, []));
  beforeAll(() => {
    client = createClient([url]);
  });
  afterAll(() => client.close());

  const hold = (ids: readonly string[], kind = 'lamp') =>
    database.transaction((tx) =>
      writeIndex(tx, new Date(), ({ apply }) =>
        apply([
          {
            ...{ source: 'node', owner: 'provider.example/reg', type: 'REGULAR' as const, networks: null },
            ...{ mode: 'FULL' as const },
            catalog: { ...catalog('lamps'), resources: ids.map((id) => ({ id, kind })) },
          },
        ]),
      ),
    );
  const current = async () => (await listIndexes(database)).find(({ isCurrent }) => isCurrent);
  const count = async () => {
    const { keys } = await client.find(
      { index: (await current())?.name, timeoutMs: 10_000 },
      { query: everything, size: 10_000 },
    );
    return keys.length;
  };

  it('builds an index of what there is, and takes in what comes, changes and goes', async () => {
    await hold(['a', 'b']);
    await catchUp(database, url);
    expect(await current()).toMatchObject({ builtUpTo: null, documents: 2, hasNews: false });
    expect(await count()).toBe(2);
    await hold(['b', 'c', 'd']);
    expect(await current()).toMatchObject({ hasNews: true });
    await catchUp(database, url);
    expect(await count()).toBe(3);
    // Notes stay as long as a transaction of some test on this server is older than they are.
    let kinds = 0;
    await until(async () => {
      await hold(['b', 'c', 'd'], `kind ${++kinds}`);
      await catchUp(database, url);
      const { rows } = await database.query('select from discovery.document_change');
      return rows.length === 0;
    }, 'the notes to be forgotten');
  });

  it('goes on where another one has stopped', async () => {
    await hold(Array.from({ length: 30 }, (_, index) => `r${index}`));
    const token = randomUUID();
    const failing: OpenSearchClient = {
      ...client,
      write: async () => {
        throw new OpenSearchFailure('gone');
      },
    };
    await expect(followToEnd({ database, client: failing, logger, formats }, token)).rejects.toThrow('gone');
    const [begun] = await listIndexes(database);
    await catchUp(database, url);
    expect((await current())?.name).toBe(begun?.name);
    expect(await count()).toBe(30);
  });

  it('moves the watermark only when all is written and can be found', async () => {
    await hold(['a']);
    await catchUp(database, url);
    const before = await current();
    await hold(['a', 'b']);
    const token = randomUUID();
    const dying: OpenSearchClient = {
      ...client,
      refresh: async () => {
        throw new OpenSearchFailure('gone');
      },
    };
    await expect(followToEnd({ database, client: dying, logger, formats }, token)).rejects.toThrow('gone');
    expect(await current()).toMatchObject({ snapshot: before?.snapshot, hasNews: true, problem: 'gone' });
    await catchUp(database, url);
    expect(await count()).toBe(2);
  });

  it('writes nothing any more when another one has written since', async () => {
    await hold(['a']);
    await catchUp(database, url);
    const { name = '' } = (await current()) ?? {};
    const [slow, quick] = [randomUUID(), randomUUID()];
    const outrun = await takeLease(database, name, slow);
    await releaseLeases(database, slow);
    await hold(['a', 'b']);
    await followToEnd({ database, client, logger, formats }, quick);
    await releaseLeases(database, quick);
    const { keys } = await client.find({ index: name, timeoutMs: 10_000 }, { query: everything, size: 10 });
    const late = client.write(name, outrun?.epoch ?? 0, { written: [], removed: [...keys.slice(1)] });
    await expect(late).rejects.toThrow(NewerVersionWritten);
    await client.refresh(name);
    expect(await count()).toBe(2);
  });

  it('keeps its lease while it writes very many', async () => {
    await hold(Array.from({ length: 1_200 }, (_, index) => `r${index}`));
    const isHeld: unknown[] = [];
    const watched: OpenSearchClient = {
      ...client,
      async write(...given) {
        const { rows } = await database.query<{ held: boolean }>(
          'update discovery.opensearch_index set leased_until = now() returning (select max(leased_until) > now() as held from discovery.opensearch_index)',
        );
        isHeld.push(rows[0]?.held);
        await client.write(...given);
      },
    };
    const token = randomUUID();
    await followToEnd({ database, client: watched, logger, formats }, token);
    await releaseLeases(database, token);
    expect(isHeld).toEqual([true, true, true]);
    expect(await count()).toBe(1_200);
  });

  it('builds another index where the database was set back to an older state', async () => {
    await hold(['a']);
    await catchUp(database, url);
    const before = await current();
    await database.query('update discovery.opensearch_index set epoch = 0');
    await hold(['a', 'b'], 'chair');
    await expect(catchUp(database, url)).rejects.toThrow('the index is ahead of the database');
    await catchUp(database, url);
    expect((await current())?.name).not.toBe(before?.name);
    expect(await client.exists(before?.name ?? '')).toBe(false);
    expect(await count()).toBe(2);
  });

  it('reads many changes in parts, each up to a transaction', async () => {
    await hold(['a']);
    await catchUp(database, url);
    const watermark = (await current())?.snapshot ?? '';
    for (const ids of [['b'], ['b', 'c'], ['c', 'd', 'e'], ['f']]) await hold(ids);
    const whole = await readChanges(database, watermark, 1_000);
    expect(whole.isAll).toBe(true);
    const seen = new Set<number>();
    let parts = 0;
    for (let snapshot = watermark, isAll = false; !isAll; parts++) {
      const part = await readChanges(database, snapshot, 3);
      for (const key of part.keys) seen.add(key);
      ({ snapshot, isAll } = part);
    }
    expect(parts).toBeGreaterThan(1);
    expect([...seen].sort()).toEqual([...whole.keys].sort());
  });

  it('builds another index beside the present one, and puts it in its place', async () => {
    await hold(['a', 'b']);
    await catchUp(database, url);
    const before = await current();
    const rebuild = () => rebuildIndex({ database, client, logger, formats }, () => undefined);
    expect(await rebuild()).toBe(2);
    const after = await current();
    expect(after?.name).not.toBe(before?.name);
    expect(await listIndexes(database)).toHaveLength(1);
    expect(await client.exists(before?.name ?? '')).toBe(false);
    // The alias is one for all databases: other tests may take it away meanwhile.
    await until(async () => {
      await rebuild();
      const alias = await fetch(`${url}/_alias/signpost-v${newestOf(formats).version}`);
      return Object.keys((await alias.json()) as object).join() === (await current())?.name;
    }, 'the alias of the new index');
  });

  it('is shown by "signpost index status", and built anew by "signpost index rebuild"', async () => {
    await hold(['a', 'b']);
    const index = (...args: string[]) =>
      runCommand(registerIndexCommand, ['index', ...args], {
        ...{ DATABASE_URL: database.url, LOG_LEVEL: 'silent' },
        ...openSearchSettings(url),
      });
    const built = 'Built a new index of OpenSearch with 2 resources. Searches ask it now.';
    expect((await index('rebuild', '--opensearch')).out.trim()).toBe(built);
    expect((await index('rebuild')).out).toContain(built);
    expect((await index('status')).out).toMatch(
      /OpenSearch: signpost-v\d+-\w+ is asked by searches, and has all that was committed\./,
    );
  });

  it('is left alone by a rebuild where SEARCH_INDEX does not name it', async () => {
    const tools = { logger, onProgress: () => undefined };
    expect(await rebuildOpenSearch({ config: readConfig({}), database }, tools)).toBeUndefined();
  });

  describe('a search', () => {
    let threads: ThreadPool;
    beforeAll(() => {
      threads = createThreadPool({ size: 1, logger });
    });
    afterAll(() => threads.close());
    const ask = (intent: Intent, page: object = {}, settings = openSearchSettings(url)) => {
      const config = readConfig(settings);
      const service = createSearch({ config, database, threads, now: () => new Date() });
      return service.search({ message: { intent, ...page }, scope: {} });
    };
    const ofKind = (kind: string): Intent => {
      const expression = `$.catalogs[*].resources[?@.kind == "${kind}"]`;
      return { filters: { type: 'jsonpath', expression } };
    };
    const search = (kind: string, page: object = {}, settings = openSearchSettings(url)) =>
      ask(ofKind(kind), page, settings);
    const find = async (kind: string) => {
      const { answer, trace } = await search(kind);
      const asked = trace.steps.find(({ step }) => step === 'ask opensearch');
      return { total: answer.total, candidates: asked?.candidates, changed: asked?.changed };
    };
    beforeEach(async () => {
      await hold(['a', 'b']);
      await catchUp(database, url);
    });

    it('is answered by OpenSearch alone once that has caught up', async () => {
      expect(await find('lamp')).toEqual({ total: 2, candidates: 2, changed: 0 });
      expect(await find('chair')).toEqual({ total: 0, candidates: 0, changed: 0 });
    });

    it('sees what was committed after the watermark, and nothing that has gone since', async () => {
      await hold(['b', 'c'], 'chair');
      expect(await find('lamp')).toMatchObject({ total: 0, candidates: 2 });
      expect(await find('chair')).toMatchObject({ total: 2, candidates: 0 });
    });

    it('leaves texts to our own lists that more than ten thousand may have', async () => {
      const ids = Array.from({ length: 10_000 }, (_, index) => `r${index}`);
      const page = { limit: 10, offset: 5 };
      for (const [count, times] of [
        [3_000, 1],
        [10_000, 0],
      ]) {
        await hold(ids.slice(0, count));
        await catchUp(database, url);
        for (const more of [{}, ofKind('lamp')]) {
          const intent = { textSearch: 'lamp', ...more };
          const [ours, theirs] = [await ask(intent, page, {}), await ask(intent, page)];
          expect(theirs.trace.steps.filter(({ step }) => step === 'ask opensearch')).toHaveLength(times ?? 0);
          expect(theirs.answer.catalogs).toBe(ours.answer.catalogs);
          expect(theirs.answer.pagination).toEqual(ours.answer.pagination);
        }
      }
    });

    it('reads very many candidates part by part, in the order of our own lists, changes among them', async () => {
      const ids = Array.from({ length: 4_500 }, (_, index) => `r${index}`);
      await hold(ids);
      await catchUp(database, url);
      const others = (id: string) => ids.filter((each) => each !== id);
      for (const change of [() => undefined, () => hold(others('r7')), () => hold([...ids, 'new'])]) {
        await change();
        for (const offset of [0, 5, 900]) {
          const page = { limit: 10, offset };
          const [ours, theirs] = [await search('lamp', page, {}), await search('lamp', page)];
          expect(theirs.trace.steps).toContainEqual(
            expect.objectContaining({ step: 'lead', by: 'opensearch' }),
          );
          expect(theirs.answer.catalogs).toBe(ours.answer.catalogs);
          expect(theirs.answer.pagination).toEqual(ours.answer.pagination);
        }
      }
    });
  });
});
