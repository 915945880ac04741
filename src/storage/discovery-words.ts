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
  const ids = await wordIds(tx, [...best.keys()].sort(), keysOf);
  await tx.query(
    `update discovery.word set best_weight = incoming.best_weight
     from unnest($1::integer[], $2::smallint[]) as incoming (id, best_weight)
     where word.id = incoming.id and word.best_weight < incoming.best_weight`,
    [numberArray([...best.keys()].map((each) => ids.get(each) ?? 0)), numberArray([...best.values()])],
  );
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

/** Words are only ever added: one that nobody uses any more costs little, and finds nothing. */
async function wordIds(
  tx: Transaction,
  words: readonly string[],
  keysOf: (word: string) => Iterable<number>,
): Promise<Map<string, number>> {
  const ids = await findWordIds(tx, words);
  const missing = words.filter((word) => !ids.has(word));
  if (missing.length === 0) return ids;
  await addWords(tx.apart, missing, keysOf);
  for (const [word, id] of await findWordIds(tx, missing)) ids.set(word, id);
  return ids;
}

/** A word and its keys in one statement: it is never there without them. In one order for everybody, so that nobody waits in a circle. */
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

async function findWordIds(queryable: Queryable, words: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await queryable.query<{ id: number; word: string }>(
    'select id, word from discovery.word where word = any ($1)',
    [words],
  );
  return new Map(rows.map(({ id, word }) => [word, id]));
}
