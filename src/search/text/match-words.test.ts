import { expect, it } from 'vitest';
import { useDatabase } from '../../../tests/support/database/database.ts';
import { type SearchingProcess, withCaches } from '../../../tests/support/search/index-reader.ts';
import { indexKeys, queryKeys } from '../../rules/text/typing-errors.ts';
import type { Database } from '../../storage/database.ts';
import { refreshCaches } from '../cache/invalidation.ts';
import { numberWords } from './dictionary.ts';
import { matchWords } from './match-words.ts';

let database: Database;
let statements = 0;
/** A process of its own, whose statements are counted. */
let reader: SearchingProcess;
useDatabase((opened) => {
  database = opened;
  const counted = Object.create(opened, {
    query: {
      value: (...asked: Parameters<Database['query']>) => {
        statements++;
        return opened.query(...asked);
      },
    },
  });
  reader = withCaches(counted);
});

const hashOf = (text: string) => [...text].reduce((hash, letter) => hash * 31 + letter.charCodeAt(0), 7);
const typing = {
  version: 0,
  index: (word: string) => Array.from(indexKeys(word), hashOf),
  query: (word: string) => Array.from(queryKeys(word), hashOf),
};
const add = (words: string[]) =>
  database.transaction((tx) => numberWords(tx, new Map(words.map((word) => [word, typing]))));

async function find(...words: string[]): Promise<string[][]> {
  await refreshCaches(reader);
  statements = 0;
  const { matches } = await matchWords(reader, words, typing.query);
  return matches.map((each) => each.matches.map(({ word, edits }) => `${word} ${edits}`).sort());
}

it('what words stand for is asked once, until a word comes that one of them may stand for', async () => {
  await add(['lamp', 'lantern', '50']);
  expect(await find('lamps', '50', '51')).toEqual([['lamp 1'], ['50 0'], []]);
  expect(await find('lamps', '50', '51')).toEqual([['lamp 1'], ['50 0'], []]);
  expect(statements).toBe(0);

  await add(['lamps', 'bracket']);
  expect(await find('50')).toEqual([['50 0']]);
  // Only how many documents there are is asked again.
  expect(statements).toBe(1);
  expect(await find('lamps', '50')).toEqual([['lamp 1', 'lamps 0'], ['50 0']]);
  expect(statements).toBe(1);

  await add(Array.from({ length: 101 }, (_, number) => `${50 + number}`));
  expect(await find('51', 'lamps')).toEqual([['51 0'], ['lamp 1', 'lamps 0']]);
});
