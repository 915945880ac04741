import { describe, expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { gate } from '../../../tests/support/gate.ts';
import { takeTime, watchFor } from '../../../tests/support/time.ts';
import type { Database } from '../database.ts';
import { appendChange, type NewChange, numberChanges, purgeChanges, readChanges } from './change-log.ts';

let database: Database;

useDatabase(
  (opened) => {
    database = opened;
  },
  { emptied: 'catalog.change_log' },
);

describe('the change log', () => {
  it('returns a change as it was logged', async () => {
    const logged = { ...change(1, 3), submissionId: 9, details: '{"updateMode": "FULL"}' };
    await database.transaction((tx) => appendChange(tx, logged));
    await numberChanges(database);
    expect(await readChanges(database, 0, 10)).toEqual([{ ...logged, seq: 1 }]);
  });

  it('shows no change before it has a number, and none of a transaction that was rolled back', async () => {
    await database.transaction((tx) => appendChange(tx, change(1, 1)));
    await database
      .transaction(async (tx) => {
        await appendChange(tx, change(2, 1));
        throw new Error('refused');
      })
      .catch(() => undefined);
    expect(await readChanges(database, 0, 10)).toEqual([]);
    expect(await numberChanges(database)).toBe(1);
    expect(await readChanges(database, 0, 10)).toMatchObject([{ catalogKey: 1, seq: 1 }]);
  });

  it('hides nothing from a reader when the first transaction to get an id commits last', async () => {
    const [first, second] = [gate(), gate()];
    const early = database.transaction(async (tx) => {
      await appendChange(tx, change(1, 1));
      first.open();
      await second.passed;
    });
    await first.passed;
    await database.transaction((tx) => appendChange(tx, change(2, 1)));

    // The reader runs between the two commits and remembers its position.
    await numberChanges(database);
    const before = await readChanges(database, 0, 10);
    expect(before.map(({ catalogKey }) => catalogKey)).toEqual([2]);
    second.open();
    await early;
    await numberChanges(database);
    const after = await readChanges(database, before.at(-1)?.seq ?? 0, 10);
    expect(after.map(({ catalogKey }) => catalogKey)).toEqual([1]);
  });

  it('waits with a numbering for the one that is under way', async () => {
    const numbered = gate();
    const commit = gate();
    await database.transaction((tx) => appendChange(tx, change(1, 1)));
    const slow = database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(7206113002)');
      await tx.query('update catalog.change_log set seq = 1');
      numbered.open();
      await commit.passed;
    });
    await numbered.passed;
    await database.transaction((tx) => appendChange(tx, change(2, 1)));
    const next = numberChanges(database);
    await watchFor(50);
    expect(await readChanges(database, 0, 10)).toEqual([]);
    commit.open();
    await Promise.all([slow, next]);
    expect((await readChanges(database, 0, 10)).map(({ seq, catalogKey }) => [seq, catalogKey])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it('lets readers who follow it miss nothing while many write, number and read at once', async () => {
    const [writers, changesEach] = [6, 40];
    const total = writers * changesEach;
    const write = async (writer: number) => {
      for (let version = 1; version <= changesEach; version++) {
        await database.transaction(async (tx) => {
          await appendChange(tx, change(writer, version));
          // The longer the id is held before the commit, the more the orders of ids and commits differ.
          await takeTime(Math.random() * 6);
        });
      }
    };
    const follow = async () => {
      const seen: [number, number][] = [];
      for (let seq = 0; seen.length < total; ) {
        await numberChanges(database);
        for (const next of await readChanges(database, seq, 7)) {
          expect(next.seq).toBe(seq + 1);
          seq = next.seq;
          seen.push([next.catalogKey, next.version]);
        }
        await takeTime(1);
      }
      return seen;
    };
    const [one, two] = await Promise.all([
      follow(),
      follow(),
      ...Array.from({ length: writers }, (_, writer) => write(writer)),
    ]);
    expect(new Set(one.map(String)).size).toBe(total);
    expect(two).toEqual(one);
    for (let writer = 0; writer < writers; writer++) {
      const versions = one.filter(([key]) => key === writer).map(([, version]) => version);
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    }
  });
});

describe('forgetting changes', () => {
  const later = new Date('2026-02-01T00:00:00Z');
  const log = (...changes: NewChange[]) =>
    database.transaction(async (tx) => {
      for (const one of changes) await appendChange(tx, one);
    });
  const planned = (seq: number) => database.query('update catalog.push_cursor set seq = $1', [seq]);
  const kept = async () =>
    (await readChanges(database, 0, 10)).map(({ catalogKey, version }) => [catalogKey, version]);

  it('keeps the latest of each catalog, what is young, and what is not planned yet', async () => {
    await log(change(1, 1), change(2, 1), change(1, 2), { ...change(2, 2), at: later }, change(1, 3));
    await numberChanges(database);
    await planned(2);
    expect(await purgeChanges(database, later)).toBe(2);
    expect(await kept()).toEqual([
      [1, 2],
      [2, 2],
      [1, 3],
    ]);
    await planned(5);
    await purgeChanges(database, later);
    expect(await kept()).toEqual([
      [2, 2],
      [1, 3],
    ]);
  });

  it('keeps the highest number, so that the next change is not hidden from who has read that far', async () => {
    await log(change(1, 1));
    await numberChanges(database);
    await planned(1);
    await log(change(1, 2));
    await purgeChanges(database, later);
    await numberChanges(database);
    expect(await readChanges(database, 1, 10)).toMatchObject([{ version: 2, seq: 2 }]);
  });
});

function change(catalogKey: number, version: number): NewChange {
  return {
    catalogKey,
    version,
    publisher: 'provider.example/subscribers.beckn.one',
    kind: 'publish',
    at: new Date('2026-01-01T00:00:00Z'),
    details: '{}',
  };
}
