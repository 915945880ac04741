import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { countServed, seedCrawled } from '../../../tests/support/hosted/crawled-catalogs.ts';
import type { Database, Transaction } from '../database.ts';
import { catalogsAtOnce } from './copies.ts';
import { settleNoted, settlePrecedence } from './precedence.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const network = 'a.example/retail';
const catalogs = 2 * catalogsAtOnce + 1;

describe('whose copies count of more catalogs than a transaction can lock', () => {
  it('is noted without a lock, and settled in parts; what a part that failed was about stays noted', async () => {
    await database.query(`insert into discovery.crawl_source (kind, name) values ('network', $1)`, [network]);
    await seedCrawled(database, { network, nodes: 1, ofEach: catalogs });
    await database.transaction(async (tx) => {
      const { rows } = await tx.query<{ owner: string; id: string }>(
        'update discovery.crawl_target set hidden = true returning node as owner, catalog_id as id',
      );
      await settlePrecedence(tx, rows);
      expect(await countLocks(tx)).toBe(0);
    });
    const died = new Error('the process died');
    const dying = database.transaction(async (tx) => {
      await settleNoted(tx);
      expect(await countLocks(tx)).toBe(catalogsAtOnce);
      throw died;
    });
    await expect(dying).rejects.toBe(died);
    const isMore = [];
    for (let part = 0; part < 3; part += 1) isMore.push(await database.transaction(settleNoted));
    expect(isMore).toEqual([true, true, false]);
    expect(await countServed(database, 'node')).toBe(0);
  });
});

async function countLocks(tx: Transaction): Promise<number | undefined> {
  const { rows } = await tx.query<{ held: number }>(
    `select count(*) as held from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`,
  );
  return rows[0]?.held;
}
