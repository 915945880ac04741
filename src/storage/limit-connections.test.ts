import { expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import type { Database } from './database.ts';
import { limitConnections } from './limit-connections.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

it('holds no more connections than it may, whatever fails, and does all that is asked', async () => {
  const limited = limitConnections(database, 2);
  let [now, most] = [0, 0];
  const work = (index: number) =>
    limited.transaction(async (tx) => {
      now += 1;
      most = Math.max(most, now);
      await tx.query('select pg_sleep(0.01)');
      now -= 1;
      if (index % 3 === 0) throw new Error('refused');
      return index;
    });
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, index) => work(index)));
  expect(outcomes.map((outcome) => outcome.status)).toEqual(
    Array.from({ length: 9 }, (_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
  );
  expect(most).toBe(2);
  expect((await limited.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
