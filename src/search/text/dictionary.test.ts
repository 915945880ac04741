import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { numberWords } from './dictionary.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const noKeys = () => [];

async function numberOf(tx: Transaction, word: string): Promise<number | undefined> {
  const numbers = await numberWords(tx, [word], noKeys);
  return numbers.get(word);
}

it('two transactions that meet the same new words in another order do not wait for each other', async () => {
  const both = (await Promise.all([1, 2].map(startTransaction))) as [Started, Started];
  const [one, other] = both;
  const amber = await numberOf(one.tx, 'amber');
  const birch = await numberOf(other.tx, 'birch');
  expect(await numberOf(one.tx, 'birch')).toBe(birch);
  expect(await numberOf(other.tx, 'amber')).toBe(amber);
  await Promise.all(both.map(({ commit }) => commit()));
  const { rows } = await database.query('select id, word from discovery.word order by word');
  expect(rows).toEqual([
    { id: amber, word: 'amber' },
    { id: birch, word: 'birch' },
  ]);
});

it('a word stays when the transaction that brought it is rolled back, with the keys that forgive typing errors', async () => {
  const rollback = database.transaction(async (tx) => {
    await numberWords(tx, ['cedar'], () => [7, 8]);
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
