import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { takeTime } from '../../../tests/support/time.ts';
import type { Database } from '../database.ts';
import { type IndexRow, type ReadEntry, recordIndex, takeDueIndexes } from './indexes.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.crawl_host cascade' },
);

const now = new Date('2031-01-01T00:00:00Z');
const token = '00000000-0000-4000-8000-000000000000';
let rows: IndexRow[];

beforeEach(async () => {
  await database.query(
    `with host as (insert into discovery.crawl_host (host, lease_token) values ('host:443', $1) returning id),
       node as (insert into discovery.crawl_node (node, host_id) select 'node', id from host returning id, host_id)
     insert into discovery.crawl_index (node_id, host_id, url, due_at) select id, host_id, unnest('{one,two}'::text[]), now() from node`,
    [token],
  );
  const hosts = await database.query<{ id: number }>('select id from discovery.crawl_host');
  rows = await takeDueIndexes(
    database,
    hosts.rows.map(({ id }) => id),
    10,
    now,
  );
});

function entry(entryVersion: number): ReadEntry {
  const digest = `digest of ${entryVersion}`;
  return {
    ...{ catalogId: 'catalog', entryVersion, isMaster: false, isRetired: false, digest },
    document: '{}',
  };
}

/** Records an index with these entries; `then` runs in the same transaction. */
async function record(index: number, entries: readonly ReadEntry[], then = async () => {}): Promise<void> {
  const row = rows.find(({ url }) => url === ['one', 'two'][index]);
  if (row === undefined) throw new Error('there is no such index');
  await database.transaction(async (tx) => {
    const read = { etag: '"1"', nextUpdate: now, entries, discarded: [] };
    const settings = { now, dueInMs: 0, hideUnconfirmed: false };
    await recordIndex(tx, { id: row.host_id, token }, row, read, settings);
    await then();
  });
}

const target = async () => {
  const found = await database.query('select * from discovery.crawl_target');
  return found.rows[0];
};

describe('the entry that counts', () => {
  it('is the newest of all indexes of the node, also when two are recorded at the same time', async () => {
    await record(0, [entry(1)]);
    let second: Promise<void> | undefined;
    await record(0, [entry(2)], async () => {
      second = record(1, []);
      await takeTime(300);
    });
    await second;
    expect(await target()).toMatchObject({ entry_version: 2, digest: 'digest of 2' });
  });

  it('is gone with its work when its index does not list it, although nothing is known of another index', async () => {
    await record(0, [entry(1)]);
    expect(await target()).toMatchObject({ due_at: expect.any(Date) });
    await database.query('update discovery.crawl_target set version = 1');
    await record(0, []);
    expect(await target()).toMatchObject({ index_id: null, due_at: null, unconfirmed_since: null });
    await record(1, []);
    expect(await target()).toMatchObject({ index_id: null, due_at: null, unconfirmed_since: now });
  });
});

describe('a catalog in no index', () => {
  it('of which nothing was ever read is forgotten: a node may name others every day', async () => {
    await record(1, []);
    await record(0, [entry(1)]);
    expect(await target()).toBeDefined();
    await record(0, []);
    expect(await target()).toBeUndefined();
  });

  it('that is retired is remembered for ever', async () => {
    await record(1, []);
    await record(0, [{ ...entry(1), isRetired: true }]);
    await record(0, []);
    expect(await target()).toMatchObject({ retired_at: now, index_id: null });
  });
});

describe('an index', () => {
  it('is not due again, and has nothing to compare with, when its record has dropped it while it was read', async () => {
    await database.query('update discovery.crawl_index set listed = false, due_at = null');
    await record(0, [entry(1)]);
    const { rows: indexes } = await database.query("select * from discovery.crawl_index where url = 'one'");
    expect(indexes).toMatchObject([{ due_at: null, etag: null }]);
  });
});
