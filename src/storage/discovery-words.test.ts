import { expect, it } from 'vitest';
import { useDatabase } from '../../tests/support/database.ts';
import type { Database, Transaction } from './database.ts';
import { addPostings } from './discovery-words.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const noKeys = () => [];

function add(tx: Transaction, word: string, key: number): Promise<void> {
  return addPostings(tx, 'posting', { word: [word], key: [key], weight: [100] }, noKeys);
}

it('two transactions that meet the same new words in another order do not wait for each other', async () => {
  const both = (await Promise.all([1, 2].map(startTransaction))) as [Started, Started];
  const [one, other] = both;
  await add(one.tx, 'amber', 1);
  await add(other.tx, 'birch', 2);
  await add(one.tx, 'birch', 1);
  await add(other.tx, 'amber', 2);
  await Promise.all(both.map(({ commit }) => commit()));
  const { rows } = await database.query(
    'select word, count(*) as documents from discovery.posting join discovery.word on id = word_id group by word order by word',
  );
  expect(rows).toEqual([
    { word: 'amber', documents: 2 },
    { word: 'birch', documents: 2 },
  ]);
});

it('a word stays when the transaction that brought it is rolled back, with the keys that forgive typing errors', async () => {
  const rollback = database.transaction(async (tx) => {
    await addPostings(tx, 'posting', { word: ['cedar'], key: [1], weight: [100] }, () => [7, 8]);
    throw new Error('rolled back');
  });
  await expect(rollback).rejects.toThrow('rolled back');
  const { rows } = await database.query(
    "select hash from discovery.deletion join discovery.word on id = word_id where word = 'cedar' order by hash",
  );
  expect(rows).toEqual([{ hash: 7 }, { hash: 8 }]);
});

interface Started {
  tx: Transaction;
  commit(): Promise<void>;
}

function startTransaction(): Promise<Started> {
  return new Promise((resolve, reject) => {
    let end = () => {};
    const ended = new Promise<void>((done) => {
      end = done;
    });
    const over = database.transaction(async (tx) => {
      resolve({
        tx,
        commit() {
          end();
          return over;
        },
      });
      await ended;
    });
    over.catch(reject);
  });
}
