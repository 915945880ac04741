import { numberArray } from './bulk.ts';
import type { Queryable, Transaction } from './database.ts';

// The distinct words of all texts, the keys that forgive typing errors in them, and where each word stands: in resources and in what is said
// of catalogs and providers (posting), and in offers (offer_posting), whose resources are known only at query time.

export type PostingTable = 'posting' | 'offer_posting';

export interface PostingRows {
  word: string[];
  key: number[];
  /** In hundredths. */
  weight: number[];
}

export async function addPostings(
  tx: Transaction,
  table: PostingTable,
  { word, key, weight }: PostingRows,
  keysOf: (word: string) => Iterable<number>,
): Promise<void> {
  if (key.length === 0) return;
  const best = new Map<string, number>();
  for (const [index, each] of word.entries())
    best.set(each, Math.max(best.get(each) ?? 0, weight[index] ?? 0));
  const ids = await wordIds(tx, best, keysOf);
  await tx.query(
    `insert into discovery.${table} (word_id, key, weight)
     select * from unnest($1::integer[], $2::bigint[], $3::smallint[])`,
    [numberArray(word.map((each) => ids.get(each) ?? 0)), numberArray(key), numberArray(weight)],
  );
}

export async function removePostings(
  tx: Transaction,
  table: PostingTable,
  { word, key }: Pick<PostingRows, 'word' | 'key'>,
): Promise<void> {
  if (key.length === 0) return;
  await tx.query(
    `delete from discovery.${table} where (word_id, key) in (
       select word.id, gone.key from unnest($1::text[], $2::bigint[]) as gone (word, key) join discovery.word using (word)
     )`,
    [word, numberArray(key)],
  );
}

/**
 * Words are only ever added, and the most that one counted only ever rises: a word that nobody uses any more costs little, and finds nothing.
 * Both happen outside of the transaction, each statement in one order for everybody, so that nobody waits in a circle.
 */
async function wordIds(
  tx: Transaction,
  best: ReadonlyMap<string, number>,
  keysOf: (word: string) => Iterable<number>,
): Promise<Map<string, number>> {
  const words = [...best.keys()].sort();
  const known = await findWords(tx, words);
  const missing = words.filter((word) => !known.has(word));
  if (missing.length > 0) {
    await addWords(tx.apart, missing, keysOf);
    for (const [word, found] of await findWords(tx, missing)) known.set(word, found);
  }
  const risen = [...known].filter(([word, { bestWeight }]) => bestWeight < (best.get(word) ?? 0));
  if (risen.length > 0) {
    const weights = risen.map(([word, { id }]) => ({ id, weight: best.get(word) ?? 0 }));
    await raiseBestWeights(tx.apart, weights);
  }
  return new Map([...known].map(([word, { id }]) => [word, id]));
}

/** A word and its keys in one statement: it is never there without them. */
async function addWords(
  apart: Queryable,
  words: readonly string[],
  keysOf: (word: string) => Iterable<number>,
): Promise<void> {
  const keys = words.flatMap((word) => [...keysOf(word)].map((hash) => ({ word, hash })));
  await apart.query(
    `with added as (insert into discovery.word (word) select unnest($1::text[]) on conflict do nothing returning id, word)
     insert into discovery.deletion (hash, word_id)
     select hash, id from unnest($2::text[], $3::bigint[]) as key (word, hash) join added using (word) order by hash, id
     on conflict do nothing`,
    [words, keys.map(({ word }) => word), numberArray(keys.map(({ hash }) => hash))],
  );
}

async function raiseBestWeights(
  apart: Queryable,
  weights: readonly { id: number; weight: number }[],
): Promise<void> {
  await apart.query(
    `with held as (
       select id, incoming.weight from unnest($1::integer[], $2::smallint[]) as incoming (id, weight) join discovery.word using (id)
       order by id for update of word
     )
     update discovery.word set best_weight = held.weight from held
     where word.id = held.id and word.best_weight < held.weight`,
    [numberArray(weights.map(({ id }) => id)), numberArray(weights.map(({ weight }) => weight))],
  );
}

async function findWords(
  queryable: Queryable,
  words: readonly string[],
): Promise<Map<string, { id: number; bestWeight: number }>> {
  const { rows } = await queryable.query<{ id: number; word: string; bestWeight: number }>(
    'select id, word, best_weight as "bestWeight" from discovery.word where word = any ($1)',
    [words],
  );
  return new Map(rows.map(({ word, ...found }) => [word, found]));
}
