import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { expect, it } from 'vitest';
import { createEmptyDatabase } from './support/database.ts';
import { migrateUntil } from './support/old-schema.ts';

const migrations = new URL('../migrations/', import.meta.url);
const lastBefore = 42;

/** Modes in which a table takes no writes, or nothing at all. */
const heldUp = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'];

it('a migration locks one of the queues at a time, and looks at no rows while that takes no reads', async () => {
  const home = await createEmptyDatabase();
  await migrateUntil(lastBefore, home.url);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  try {
    const later = (await readdir(migrations)).filter((name) => Number.parseInt(name, 10) > lastBefore).sort();
    expect(later.length).toBeGreaterThan(0);
    for (const name of later) {
      await client.query('begin');
      await client.query(await readFile(new URL(name, migrations), 'utf8'));
      const { rows } = await client.query<{ table: string; mode: string }>(
        `select relation::regclass::text as table, mode from pg_locks where pid = pg_backend_pid() and mode = any($1)
           and relation in ('work.callback'::regclass, 'catalog.push'::regclass)`,
        [heldUp],
      );
      await client.query('commit');
      expect(new Set(rows.map(({ table }) => table)).size, name).toBeLessThanOrEqual(1);
      // A lock that keeps readers out is alone: no index is built under it.
      const isExclusive = rows.some(({ mode }) => mode === 'AccessExclusiveLock');
      expect(isExclusive && rows.some(({ mode }) => mode === 'ShareLock'), name).toBe(false);
    }
    const { rows } = await client.query(
      "select from pg_constraint where conname ~ '_state_check$' and not convalidated",
    );
    expect(rows).toEqual([]);
  } finally {
    await client.end();
    await home.drop();
  }
});
