import { arraysOf, bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// The dictionary of a generation: all words with their numbers, and the keys that find words despite typing errors (symmetric delete).

/** The numbers of words. New words get one outside the transaction, always in the same order, to avoid deadlocks. */
export async function numberWords(
  tx: Transaction,
  index: string,
  words: readonly string[],
  format: Pick<IndexFormat, 'typing'>,
): Promise<Map<string, number>> {
  const known = await findWords(tx, index, words);
  const missing = words.filter((word) => !known.has(word)).sort();
  if (missing.length === 0) return known;
  const added = await addWords(tx.apart, index, missing, format);
  // Another transaction has added these meanwhile.
  const others = missing.filter((word) => !added.has(word));
  return new Map([...known, ...added, ...(await findWords(tx, index, others))]);
}

/** Adds words and their keys in one statement, so no word is without keys. Existing words get missing keys. */
export async function addWords(
  queryable: Queryable,
  index: string,
  words: readonly string[],
  { typing }: Pick<IndexFormat, 'typing'>,
): Promise<Map<string, number>> {
  const keys = words.flatMap((word, at) => typing.index(word).map((hash) => ({ ordinal: at + 1, hash })));
  const rows = await queryable.rows<{ id: number; word: string }>(
    `with added as (
       insert into ${index}.word (word) select * from unnest($1::text[]) on conflict (word) do nothing returning id, word
     ), numbered as (
       select id, word from added union all select id, word from ${index}.word where word = any ($1)
     ), keyed as (
       insert into ${index}.deletion (hash, word_id)
       select hash, id from unnest($2::integer[], $3::bigint[]) as key (ordinal, hash)
       join unnest($1::text[]) with ordinality as given (word, ordinal) using (ordinal)
       join numbered using (word) order by hash, id
       on conflict do nothing
     )
     select id, word from numbered`,
    [textArray(words), ...arraysOf(keys, { ordinal: integerArray, hash: bigintArray })],
  );
  return new Map(rows.map(({ word, id }) => [word, id]));
}

export async function findWords(queryable: Queryable, index: string, words: readonly string[]) {
  if (words.length === 0) return new Map<string, number>();
  const select = `select id, word from ${index}.word where word = any ($1)`;
  const rows = await queryable.rows<{ id: number; word: string }>(select, [textArray(words)]);
  return new Map(rows.map(({ word, id }) => [word, id]));
}
