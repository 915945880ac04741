import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { countRowsRead } from '../../../tests/support/database/rows-read.ts';
import type { Database } from '../database.ts';
import { measureShared, readMinutes } from './minutes.ts';

describe('what all processes share', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });
  const many = 60_000;
  const at = new Date('2026-01-01T12:00:00Z');

  it('is estimated where there is much of it, from few rows', async () => {
    await database.query(
      `insert into work.callback (role, action, message_id, destination, receiver, body, request_signature, give_up_at, due_at, state)
       select 'catalog', 'catalog/on_publish', 'm', 'https://bpp.example.org/on', 'https://bpp.example.org', '', 's', now(),
         case when n > 3 then now() end, case when n > 3 then 'open' else 'parked' end from generate_series(1, ${many}) as n`,
    );
    await database.query('vacuum analyze work.callback');
    const read = await countRowsRead(database, (queryable) => measureShared(queryable, at));
    expect(read).toBeLessThan(many / 2);
    const numbers = new Map((await readMinutes(database, at)).map(({ name, sum }) => [name, sum]));
    expect(numbers.get('waitingCallbacks')).toBeGreaterThan(many * 0.9);
    expect(numbers.get('parked')).toBe(3);
    expect(numbers.get('resources')).toBe(0);
    expect(numbers.get('databaseBytes')).toBeGreaterThan(1_000_000);
  });
});
