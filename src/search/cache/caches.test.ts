import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database/database.ts';
import { silentLogger } from '../../logger.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { freshCondition } from '../../storage/freshness.ts';
import { holdCatalogs, insertCatalogs } from '../documents/catalogs.ts';
import { keyOf } from '../documents/keys.ts';
import { findSearched } from '../documents/searched-catalogs.ts';
import { mergeRuns } from '../lists/compact.ts';
import { emptyWhole, maxRuns, readWholeLists } from '../lists/read-whole.ts';
import { addToLists } from '../lists/runs.ts';
import { createCaches, type IndexReader, readForCache } from './caches.ts';
import {
  assumeFresh,
  type CacheFreshness,
  isStillFresh,
  purgeChanges,
  refreshCaches,
} from './invalidation.ts';

// What is remembered, and how it is found out what has changed. Longer than our other files: all of it works on the same two processes.

const list = 4711;
const other = 4712;
const now = new Date('2026-06-01T12:00:00Z');
const scope = { now, schemaContext: [] };

let home: TestDatabase;
/** Two processes: each remembers for itself what it has read. */
let reader: Database;
let writer: Database;
let statements: string[] = [];
const caches = createCaches();
/** What happens while the answer of a statement is on its way. */
let meanwhile = async () => {};
/** How far the clock of the database has gone on since the reader asked first. */
let passedMs = 0;
/** Of the reader, whose statements are counted. */
let counted: Database & IndexReader;

beforeAll(async () => {
  home = await createTestDatabase();
  const open = () => openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
  [reader, writer] = [await open(), await open()];
  counted = {
    ...reader,
    caches,
    async query(text, ...rest) {
      statements.push(text);
      const answer = await reader.query(text, ...rest);
      await meanwhile();
      return { ...answer, rows: answer.rows.map((row) => ('at' in row ? later(row) : row)) } as never;
    },
  };
});
afterAll(async () => {
  await Promise.all([reader.close(), writer.close()]);
  await home.drop();
});
const later = (row: { at?: unknown }) => ({ ...row, at: Number(row.at) + passedMs });
beforeEach(async () => {
  await writer.query('truncate discovery.run, discovery.catalog cascade');
  await refreshCaches(counted);
  statements = [];
});

const add = (key: number, to = list) =>
  writer.transaction((tx) => addToLists(tx, [{ list: to, keys: [key], marks: [0] }]));
const read = async (which = list) => [
  ...((await readWholeLists(counted, [which])).get(which)?.others.keys ?? []),
];

describe('what a process has cached of the index', () => {
  it('is not read again while nothing of it has changed', async () => {
    await add(1);
    await refreshCaches(counted);
    expect(await read()).toEqual([1]);
    await add(2, other);
    await refreshCaches(counted);
    statements = [];
    expect(await read()).toEqual([1]);
    expect(statements).toEqual([]);
  });

  it('is what it was when the process last caught up, and is new after the next time', async () => {
    await add(1);
    await refreshCaches(counted);
    expect(await read()).toEqual([1]);
    await add(2);
    expect(await read()).toEqual([1]);
    await refreshCaches(counted);
    expect(await read()).toEqual([1, 2]);
  });

  it('is forgotten when a transaction commits that began long before it was read', async () => {
    await add(1);
    await writer.transaction(async (tx) => {
      await addToLists(tx, [{ list, keys: [2], marks: [0] }]);
      await add(3, other);
      await refreshCaches(counted);
      expect(await read()).toEqual([1]);
    });
    await refreshCaches(counted);
    expect(await read()).toEqual([1, 2]);
  });

  it('does not hold what was read before something had to be forgotten that came meanwhile', async () => {
    await add(1);
    await refreshCaches(counted);
    const { found, mayKeep } = await readForCache(counted, async () => {
      const before = await writer.query('select from discovery.run');
      await add(2);
      await refreshCaches(counted);
      return before.rowCount;
    });
    expect({ found, mayKeep }).toEqual({ found: 1, mayKeep: false });
  });

  it('is nothing before the process has caught up for the first time', async () => {
    const fresh = { ...counted, caches: createCaches() };
    expect(await readForCache(fresh, async () => 1)).toEqual({ found: 1, mayKeep: false });
  });

  it('is all forgotten when more lists have changed than are named', async () => {
    await add(1);
    await refreshCaches(counted);
    expect(await read()).toEqual([1]);
    const many = Array.from({ length: 6_000 }, (_, index) => ({ list: index, keys: [2], marks: [0] }));
    await writer.transaction((tx) => addToLists(tx, many));
    await refreshCaches(counted);
    expect(await read()).toEqual([1, 2]);
  });

  it('is all forgotten when so much has changed that it is not worth telling', async () => {
    await add(1);
    await refreshCaches(counted);
    await read();
    await writer.query(
      'insert into discovery.change (lists) select array[n] from generate_series(5000, 7000) as n',
    );
    await refreshCaches(counted);
    statements = [];
    expect(await read()).toEqual([1]);
    expect(statements).toHaveLength(1);
  });

  it('is all forgotten when the process did not ask for a while', async () => {
    await add(1);
    await refreshCaches(counted);
    await read();
    passedMs += 59_000;
    await refreshCaches(counted);
    statements = [];
    await read();
    expect(statements).toEqual([]);
    passedMs += 61_000;
    await refreshCaches(counted);
    statements = [];
    await read();
    expect(statements).toHaveLength(1);
  });

  it('is all forgotten when another database stands for the one that it was read from', async () => {
    await add(1);
    await refreshCaches(counted);
    expect(await read()).toEqual([1]);
    const copy = await createTestDatabase();
    const other = await openDatabase({ url: copy.url, logger: silentLogger() });
    try {
      const restored = { ...other, caches };
      await refreshCaches(restored);
      expect((await readWholeLists(restored, [list])).get(list)?.others.keys).toHaveLength(0);
    } finally {
      await other.close();
      await copy.drop();
    }
  });

  it('is none of the runs that were there before the table was emptied, whose numbers may be given again', async () => {
    await add(1);
    await refreshCaches(counted);
    caches.runs.keep(1, emptyWhole);
    await add(2);
    await refreshCaches(counted);
    expect(caches.runs.find(1)).toBeDefined();
    await writer.query('truncate discovery.run restart identity');
    await refreshCaches(counted);
    expect(caches.runs.find(1)).toBeUndefined();
  });

  it('is not that a list is too long to be read whole, when it has been compacted', async () => {
    const keys = Array.from({ length: maxRuns + 1 }, (_, index) => index + 1);
    await writer.transaction((tx) =>
      addToLists(
        tx,
        keys.map((key) => ({ list, keys: [key], marks: [0] })),
      ),
    );
    await refreshCaches(counted);
    expect(await read()).toEqual([]);
    await mergeRuns(writer, list);
    await refreshCaches(counted);
    expect(await read()).toEqual(keys);
  });

  it('holds when a list is compacted', async () => {
    for (const key of [1, 2, 3, 4, 5]) await add(key);
    await refreshCaches(counted);
    await refreshCaches(counted);
    expect(await read()).toEqual([1, 2, 3, 4, 5]);
    const freshness = assumeFresh(caches, aWhileLater()) as CacheFreshness;
    expect(await mergeRuns(writer, list)).toBe(4);
    expect(await isStillFresh(counted, freshness)).toBe(true);
    expect(assumeFresh(caches, aWhileLater())).toBeDefined();
    statements = [];
    expect(await read()).toEqual([1, 2, 3, 4, 5]);
    expect(statements).toEqual([]);
  });

  it('goes on being right when old changes are told no more', async () => {
    await add(1);
    await refreshCaches(counted);
    expect(await read()).toEqual([1]);
    await writer.query(`update discovery.change set at = now() - interval '2 hours'`);
    await purgeChanges(writer);
    expect((await writer.query('select from discovery.change')).rowCount).toBe(0);
    await add(2);
    await refreshCaches(counted);
    expect(await read()).toEqual([1, 2]);
  });
});

describe('an optimistic search', () => {
  it('is right as long as nothing is committed', async () => {
    await refreshCaches(counted);
    await refreshCaches(counted);
    const freshness = assumeFresh(caches, aWhileLater());
    expect(freshness).toBeDefined();
    expect(freshness && (await isStillFresh(counted, freshness))).toBe(true);
  });

  it('learns that something was committed meanwhile, by the database or in the statement that stores what it found', async () => {
    await refreshCaches(counted);
    await refreshCaches(counted);
    const freshness = assumeFresh(caches, aWhileLater()) as CacheFreshness;
    const holds = async ({ snapshot, server } = freshness) => {
      const { rows } = await reader.query(`select ${freshCondition('$1', '$2')} as holds`, [
        snapshot,
        server,
      ]);
      return rows[0]?.holds;
    };
    expect(await holds()).toBe(true);
    expect(await holds({ ...freshness, server: 'another server' })).toBe(false);
    await writer.transaction(async (tx) => {
      await addToLists(tx, [{ list, keys: [1], marks: [0] }]);
      expect(await holds()).toBe(true);
    });
    expect(await holds()).toBe(false);
    expect(await isStillFresh(counted, freshness)).toBe(false);
  });

  it('is made sure of by a look at what is new, however many changes there are', async () => {
    await writer.query('insert into discovery.change (lists) select array[1] from generate_series(1, 20000)');
    await refreshCaches(counted);
    await refreshCaches(counted);
    const { snapshot, server } = assumeFresh(caches, aWhileLater()) as CacheFreshness;
    const { rows } = await writer.query<{ 'QUERY PLAN': string }>(
      `explain select ${freshCondition('snapshot', 'server')} from (values ($1::pg_snapshot, $2), ($1, $2)) as given (snapshot, server)`,
      [snapshot, server],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('change_of_transaction');
    expect(plan).not.toContain('Seq Scan on change');
  });

  it('asks beforehand where something has changed lately, or nobody has asked for a while', async () => {
    await refreshCaches(counted);
    await add(1);
    await refreshCaches(counted);
    expect(assumeFresh(caches)).toBeUndefined();
    await refreshCaches(counted);
    expect(assumeFresh(caches)).toBeUndefined();
    expect(assumeFresh(caches, aWhileLater())).toBeDefined();
    expect(assumeFresh(caches, aWhileLater() + 2_000)).toBeUndefined();
  });

  it('does not exist before the process has asked for the first time', () => {
    expect(assumeFresh(createCaches())).toBeUndefined();
  });
});

describe('searches that begin at the same time', () => {
  /** The first asks; the others begin while its answer is on its way. */
  const askedTogether = async (
    others: () => Promise<unknown>[],
  ): Promise<PromiseSettledResult<unknown>[]> => {
    let began: Promise<PromiseSettledResult<unknown>[]> | undefined;
    meanwhile = async () => {
      meanwhile = async () => {};
      await add(1);
      began = Promise.allSettled(others());
    };
    statements = [];
    await refreshCaches(counted);
    return (await began) ?? [];
  };

  it('ask together, and see what was committed before they began', async () => {
    await refreshCaches(counted);
    await read();
    await askedTogether(() => Array.from({ length: 9 }, () => refreshCaches(counted)));
    expect(statements).toHaveLength(2);
    expect(await read()).toEqual([1]);
  });

  it('do not fail with the one that asks for all of them', async () => {
    const broken = { ...counted, query: () => Promise.reject(new Error('it has no time left')) };
    const results = await askedTogether(() => [refreshCaches(broken), refreshCaches(counted)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});

describe('the states of catalogs', () => {
  const make = async (id: string): Promise<number> => {
    return writer.transaction(async (tx) => {
      const [held] = await holdCatalogs(tx, [{ source: 's', owner: 'o', id }]);
      if (held === undefined) throw new Error('there is no catalog');
      await insertCatalogs(tx, [{ ...held, provider_id: 'p', is_active: true, words: null }], now);
      return held.key;
    });
  };
  const searched = async (keys: number[]) => [...(await findSearched(counted, keys, scope))];

  it('are read once, and shared by those that have the same', async () => {
    const [a, b] = [await make('a'), await make('b')];
    const keys = [keyOf(b, 2), keyOf(a, 1), keyOf(b, 1)];
    await refreshCaches(counted);
    expect(await searched(keys)).toEqual(keys);
    statements = [];
    expect(await searched(keys)).toEqual(keys);
    expect(statements).toEqual([]);
    expect(caches.catalogs.find(a)).not.toBeUndefined();
    expect(caches.catalogs.find(a)).toBe(caches.catalogs.find(b));
  });

  it('are read again when one of them changed, and tell one that is gone', async () => {
    const [a, b] = [await make('a'), await make('b')];
    const keys = [keyOf(a, 1), keyOf(b, 1)];
    await refreshCaches(counted);
    expect(await searched(keys)).toEqual(keys);
    await hide(a);
    await refreshCaches(counted);
    expect(await searched(keys)).toEqual([keyOf(b, 1)]);
    await writer.query('delete from discovery.catalog where key = $1', [b]);
    await refreshCaches(counted);
    expect(await searched(keys)).toEqual([]);
  });

  it('that are forgotten while others are read are those that were known when the search began', async () => {
    const [a, b] = [await make('a'), await make('b')];
    await refreshCaches(counted);
    await searched([keyOf(a, 1)]);
    meanwhile = async () => {
      meanwhile = async () => {};
      await hide(a, b);
      await refreshCaches({ ...reader, caches });
    };
    expect(await searched([keyOf(a, 1), keyOf(b, 1)])).toEqual([keyOf(a, 1), keyOf(b, 1)]);
    expect(await searched([keyOf(a, 1), keyOf(b, 1)])).toEqual([]);
  });

  it('have validities as they were written, to the millisecond', async () => {
    const a = await make('a');
    const key = keyOf(a, 1);
    await writer.query(
      `update discovery.catalog set valid_from = $2, valid_until = $2, window_start = $3, window_length = 1 where key = $1`,
      [a, now, now.getTime() % 86_400_000],
    );
    await refreshCaches(counted);
    const at = async (ms: number) => [
      ...(await findSearched(counted, [key], { ...scope, now: new Date(now.getTime() + ms) })),
    ];
    expect([await at(-1), await at(0), await at(1)]).toEqual([[], [key], []]);
  });
});

/** After the last refresh: long enough for an optimistic search where that found nothing new, and not too long. */
function aWhileLater(): number {
  return caches.state.askedAt + 900;
}

/** As when another source's copy counts. */
async function hide(...keys: number[]): Promise<void> {
  await writer.query('update discovery.catalog set served = false where key = any ($1)', [keys]);
}
