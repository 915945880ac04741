import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database/database.ts';
import { gate } from '../../tests/support/gate.ts';
import { until, watchFor } from '../../tests/support/time.ts';
import { silentLogger } from '../logger.ts';
import { type Database, openDatabase, type Transaction } from './database.ts';
import { waitForLock } from './wait-for-lock.ts';

let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  database = await openDatabase({ url: home.url, logger: silentLogger(), maxConnections: 4 });
  await database.query('create table note (text text)');
});
afterAll(async () => {
  await database.close();
  await home.drop();
});

const often = { askAgainMs: 20 };

describe('a transaction that waits for a lock', () => {
  it('gets it when it is free, however often it had to ask, and keeps what it wrote before', async () => {
    const held = await hold('one');
    const waiting = database.transaction(async (tx) => {
      await tx.query("insert into note values ('before')");
      await waitForLock(tx, 'one', often);
      await tx.query("insert into note values ('after')");
      const { rows } = await tx.query('show lock_timeout');
      return rows;
    });
    await watchFor(200);
    await held.end();
    expect(await waiting).toEqual([{ lock_timeout: '10s' }]);
    expect((await database.query('select text from note')).rows).toEqual([
      { text: 'before' },
      { text: 'after' },
    ]);
  });

  it('does not get it once its process stands still', async () => {
    const [held, goOn] = [await hold('two'), gate()];
    let hasAsked = false;
    const halted = database.transaction((tx) => {
      const query = async (text: string, values?: readonly unknown[]) => {
        if (text.startsWith('rollback to')) {
          hasAsked = true;
          await goOn.passed;
        }
        return tx.query(text, values);
      };
      return waitForLock({ ...tx, query } as Transaction, 'two', often);
    });
    await until(() => hasAsked, 'its question to end unanswered');
    await held.end();
    await database.transaction((tx) => waitForLock(tx, 'two', often));
    goOn.open();
    await halted;
  });
});

/** By another transaction. */
async function hold(name: string): Promise<{ end(): Promise<void> }> {
  const [taken, over] = [gate(), gate()];
  const holding = database.transaction(async (tx) => {
    await waitForLock(tx, name);
    taken.open();
    await over.passed;
  });
  await taken.passed;
  return {
    async end() {
      over.open();
      await holding;
    },
  };
}
