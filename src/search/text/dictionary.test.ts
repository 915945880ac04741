import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import type { Database, Queryable, Transaction } from '../../storage/database.ts';
import type { TypingKeys } from '../format/index-format.ts';
import { numberWords } from './dictionary.ts';
import { sweepWords } from './sweep-words.ts';

let database: Database;
useDatabase((opened) => {
  database = opened;
});

const noKeys = typing(() => []);

async function numberOf(tx: Transaction, word: string): Promise<number | undefined> {
  const numbers = await numberWords(tx, new Map([[word, noKeys]]));
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
    await numberWords(tx, new Map([['cedar', typing(() => [7, 8])]]));
    throw new Error('rolled back');
  });
  await expect(rollback).rejects.toThrow('rolled back');
  const { rows } = await database.query(
    "select hash from discovery.deletion join discovery.word on id = word_id where word = 'cedar' order by hash",
  );
  expect(rows).toEqual([{ hash: 7 }, { hash: 8 }]);
});

it('a word gets the keys of a newer version beside those that it has', async () => {
  const numberWith = (version: number, keys: number[]) =>
    database.transaction((tx) => numberWords(tx, new Map([['elm', typing(() => keys, version)]])));
  const number = await numberWith(0, [1, 2]);
  expect(await numberWith(1, [2, 3])).toEqual(number);
  expect(await numberWith(0, [4])).toEqual(number);
  const { rows } = await database.query(
    "select hash from discovery.deletion join discovery.word on id = word_id where word = 'elm' order by hash",
  );
  expect(rows).toEqual([{ hash: 1 }, { hash: 2 }, { hash: 3 }]);
});

it('a word that was swept and added again since its number was read gets its new number', async () => {
  await database.transaction((tx) => numberOf(tx, 'fir'));
  await database.query("update discovery.word set keys_version = -1 where word = 'fir'");
  let added: number | undefined;
  const number = await database.transaction((tx) => {
    const query: Queryable['query'] = async (text, values) => {
      await sweepWords(database, 0, new AbortController().signal);
      added = await database.transaction((other) => numberOf(other, 'fir'));
      return tx.apart.query(text, values);
    };
    return numberOf({ ...tx, apart: { query } }, 'fir');
  });
  const { rows } = await database.query("select id from discovery.word where word = 'fir'");
  expect(rows).toEqual([{ id: added }]);
  expect(number).toBe(added);
});

function typing(index: TypingKeys['index'], version = 0): TypingKeys {
  return { version, index, query: index };
}

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
