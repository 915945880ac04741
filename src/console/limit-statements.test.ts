import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database/database.ts';
import type { Database } from '../storage/database.ts';
import { limitStatements } from './limit-statements.ts';

describe('the statements of the console', () => {
  let database: Database;
  useDatabase((opened) => {
    database = opened;
  });

  it('are ended when they take too long, with an error that says what to do', async () => {
    // On a busy machine, opening a connection takes longer than the limit, which is a different error.
    await database.ping();
    const limited = limitStatements(database, 200);
    await expect(limited.query('select pg_sleep(60)')).rejects.toMatchObject({
      ...{ code: 'NET_TIMEOUT', status: 504, message: 'The database took longer than 0.2 s for this.' },
      hint: expect.stringContaining('Ask for less'),
    });
    await expect(limited.rows('select pg_sleep(60)')).rejects.toMatchObject({ code: 'NET_TIMEOUT' });
    expect((await limited.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('have as much time as a transaction has, inside one', async () => {
    const limited = limitStatements(database, 100);
    const slept = limited.transaction((tx) => tx.query('select pg_sleep(0.3)'));
    expect((await slept).rowCount).toBe(1);
  });

  it('fail as ever where the fault is another one', async () => {
    await expect(limitStatements(database).query('select nothing')).rejects.toThrow(/column "nothing"/);
  });
});
