import { bigintArray, integerArray, textArray } from '../../storage/binary-arrays.ts';
import type { Queryable, Transaction } from '../../storage/database.ts';
import type { IndexFormat } from '../entries/index-format.ts';

// The dictionary of a generation: the distinct words of all texts, each with its number, and the keys under which a word is found in spite of typing errors (the symmetric-delete method).

/**
 * The numbers of words; those that are new get one, and those that are marked to be deleted (upkeep/sweep-words.ts) lose the mark. That happens outside of the transaction, and in one order for everybody, so
 * that nobody waits in a circle.
 */
export async function numberWords(
  tx: Transaction,
  index: string,
  words: readonly string[],
  { typing }: Pick<IndexFormat, 'typing'>,
): Promise<Map<string, number>> {
  const known = await findWords(tx, index, words, { unmarked: true });
  const missing = words.filter((word) => !known.has(word)).sort();
  if (missing.length === 0) return known;
  const added = await addWords(tx.apart, index, missing, typing);
  // Another transaction has added these meanwhile.
  const others = missing.filter((word) => !added.has(word));
  return new Map([...known, ...added, ...(await findWords(tx, index, others))]);
}

/** A word and its keys in one statement: it is never there without them. Returns the words that it has added, or unmarked. */
async function addWords(
  apart: Queryable,
  index: string,
  words: readonly string[],
  typing: IndexFormat['typing'],
): Promise<Map<string, number>> {
  const ordinals: number[] = [];
  const hashes: number[] = [];
  for (const [at, word] of words.entries())
    for (const hash of typing.index(word)) {
      ordinals.push(at + 1);
      hashes.push(hash);
    }
  const { rows } = await apart.query<{ id: number; word: string }>(
    `with added as (
       insert into ${index}.word (word) select * from unnest($1::text[])
       on conflict (word) do update set in_use = true where not word.in_use
       returning id, word
     ), keyed as (
       insert into ${index}.deletion (hash, word_id)
       select hash, id from unnest($2::integer[], $3::bigint[]) as key (ordinal, hash)
       join unnest($1::text[]) with ordinality as given (word, ordinal) using (ordinal)
       join added using (word) order by hash, id
       on conflict do nothing
     )
     select id, word from added`,
    [textArray(words), integerArray(ordinals), bigintArray(hashes)],
  );
  return new Map(rows.map(({ word, id }) => [word, id]));
}

/** Words that have a number. One that is marked to be deleted may still stand in lists: a transaction read its number before the mark. */
export async function findWords(
  queryable: Queryable,
  index: string,
  words: readonly string[],
  { unmarked = false } = {},
): Promise<Map<string, number>> {
  if (words.length === 0) return new Map();
  const { rows } = await queryable.query<{ id: number; word: string }>(
    `select id, word from ${index}.word where word = any ($1) ${unmarked ? 'and in_use' : ''}`,
    [textArray(words)],
  );
  return new Map(rows.map(({ word, id }) => [word, id]));
}
