import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database } from '../database.ts';
import { countMissing, findExpected } from './copies.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

describe('a catalog that a complete pull did not list', () => {
  it('is counted once for each pull, also where a page is applied again after a crash, and is gone with the second', async () => {
    const feedId = await addFeed();
    await database.query(
      `insert into discovery.catalog (source, owner, id, type, head, head_digest, provider_id, networks, schema_uses, schema_types, is_active, updated_at, generation)
       values ('service:s', 'o', 'c', 'REGULAR', '{}', 0, 'p', '{n}', '{}', '{}', true, now(), 1)`,
    );
    const complete = async (run: string) => {
      const pull = { feedId, source: 'service:s', networkId: 'n', run, startedAt: new Date() };
      const missing = await findExpected(database, pull, run);
      return database.transaction((tx) => countMissing(tx, pull, missing));
    };
    const first = randomUUID();
    expect([await complete(first), await complete(first)]).toEqual([[], []]);
    expect(await complete(randomUUID())).toEqual([{ source: 'service:s', owner: 'o', id: 'c' }]);
  });
});

async function addFeed(): Promise<number> {
  const { rows } = await database.query<{ id: number }>(
    `insert into discovery.feed (catalog_url, network_id, schema_types, position) values ('https://s', 'n', '{}', 0) returning id`,
  );
  return rows[0]?.id ?? 0;
}
