import { beforeEach, describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { type AppliedTarget, recordApplied } from './targets.ts';

let database: Database;
useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'discovery.crawl_host cascade' },
);

const revokedAt = new Date('2031-01-01T00:00:00Z');
let applied: AppliedTarget;

beforeEach(async () => {
  const { rows } = await database.query<{ id: number }>(
    `with host as (insert into discovery.crawl_host (host) values ('host:443') returning id),
       node as (insert into discovery.crawl_node (node, host_id) select 'node', id from host returning id, host_id),
       item as (insert into discovery.crawl_index (node_id, host_id, url) select id, host_id, 'url' from node returning id, node_id, host_id)
     insert into discovery.crawl_target (node_id, node, host_id, catalog_id, is_master, index_id, version, unverified_since, waiting_for)
     select node_id, 'node', host_id, 'catalog', false, id, 1, $1, '{master}' from item returning id`,
    [revokedAt],
  );
  applied = {
    ...{ id: rows[0]?.id ?? 0, stir: 0, settled_digest: 'digest', applied_entry_version: 2, version: 2 },
    ...{ applied_master: false, resources: 3, entry_key: 'key', content_keys: ['key'], reread: false },
    ...{ failures: 0, last_code: null, due_in_ms: null },
  };
});

async function record(changes: Partial<AppliedTarget>): Promise<Record<string, unknown> | undefined> {
  await database.transaction((tx) => recordApplied(tx, [{ ...applied, ...changes }]));
  const { rows } = await database.query('select * from discovery.crawl_target');
  return rows[0];
}

describe('a target that was applied', () => {
  it('has its cursor where the reading ended, and waits for nothing', async () => {
    const cursor = { applied_entry_version: 2, version: 2, resources: 3, content_keys: ['key'] };
    expect(await record({})).toMatchObject({ ...cursor, settled_digest: 'digest', waiting_for: null });
  });

  it('stays unverified, also when that was found while it was read, unless it was read from its baseline on', async () => {
    expect(await record({})).toMatchObject({ unverified_since: revokedAt });
    expect(await record({ reread: true })).toMatchObject({ unverified_since: null });
  });

  it('is due again when something stirred it meanwhile', async () => {
    expect(await record({})).toMatchObject({ due_at: null });
    await database.query('update discovery.crawl_target set stir = stir + 1');
    expect(await record({})).toMatchObject({ due_at: expect.any(Date) });
  });

  it('is not due when its entry was taken away meanwhile: nobody would do the work', async () => {
    await database.query('update discovery.crawl_target set stir = stir + 1, index_id = null');
    expect(await record({})).toMatchObject({ due_at: null });
  });
});
