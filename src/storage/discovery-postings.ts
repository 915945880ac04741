import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import type { PostingTable } from './discovery-words.ts';

// Words, and where they stand, as a search asks for them. Long lists travel as texts: reading them as rows would take longer than finding them.

export interface KnownWord {
  id: number;
  word: string;
}

/** The indexed words among these, and those that have one of the hashes of typing errors. */
export async function findWords(
  queryable: Queryable,
  words: readonly string[],
  hashes: readonly number[],
): Promise<KnownWord[]> {
  const { rows } = await queryable.query<KnownWord>(
    `select id, word from discovery.word where word = any ($1)
     union
     select id, word from discovery.deletion join discovery.word on id = word_id where hash = any ($2::bigint[])`,
    [words, numberArray(hashes)],
  );
  return rows;
}

/** Keys in their order, and beside each what the word counts there, in hundredths. */
export interface Postings {
  keys: number[];
  weights: number[];
}

/** The first postings of each word after a key. A word without any is left out. */
export async function readPostings(
  queryable: Queryable,
  table: PostingTable,
  wordIds: readonly number[],
  { after = 0, limit }: { after?: number; limit: number },
): Promise<Map<number, Postings>> {
  const { rows } = await queryable.query<PostingTexts>(
    `select wanted.id as word_id, keys, weights
     from unnest($1::integer[]) as wanted (id), lateral (
       select string_agg(key::text, ',') as keys, string_agg(weight::text, ',') as weights from (
         select key, weight from discovery.${table} where word_id = wanted.id and key > $2 order by key limit $3
       ) as first
     ) as texts
     where keys is not null`,
    [numberArray(wordIds), after, limit],
  );
  return postingsOf(rows);
}

/** Where these words stand among these keys. */
export async function readPostingsAt(
  queryable: Queryable,
  wordIds: readonly number[],
  keys: readonly number[],
): Promise<Map<number, Postings>> {
  const { rows } = await queryable.query<PostingTexts>(
    `select word_id, string_agg(key::text, ',') as keys, string_agg(weight::text, ',') as weights
     from discovery.posting
     where word_id = any ($1::integer[]) and key = any ($2::bigint[])
     group by word_id`,
    [numberArray(wordIds), numberArray(keys)],
  );
  return postingsOf(rows);
}

interface PostingTexts {
  word_id: number;
  keys: string;
  weights: string;
}

function postingsOf(rows: readonly PostingTexts[]): Map<number, Postings> {
  return new Map(
    rows.map(({ word_id, keys, weights }) => [
      word_id,
      { keys: keys.split(',').map(Number), weights: weights.split(',').map(Number) },
    ]),
  );
}

/** How many documents have each word, counted up to a limit. */
export async function countPostings(
  queryable: Queryable,
  wordIds: readonly number[],
  limit: number,
): Promise<Map<number, number>> {
  const { rows } = await queryable.query<{ id: number; count: number }>(
    `select wanted.id, (select count(*) from (
         select from discovery.posting where word_id = wanted.id limit $2
       ) as counted) as count
     from unnest($1::integer[]) as wanted (id)`,
    [numberArray(wordIds), limit],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/**
 * How many documents there are: a catalog with its provider is one, and every resource and offer. Exact where they are few, otherwise as the
 * database estimates it.
 */
export async function countDocuments(queryable: Queryable): Promise<number> {
  const tables = ['catalog', 'resource', 'offer'];
  const few = tables.map(
    (name) => `(select count(*) from (select from discovery.${name} limit ${fewDocuments}) as ${name})`,
  );
  const { rows } = await queryable.query<{ few: number; many: number }>(
    `select ${few.join(' + ')} as few,
       (select sum(greatest(reltuples, 0))::bigint from pg_class
        where oid = any (array['discovery.catalog', 'discovery.resource', 'discovery.offer']::regclass[])) as many`,
  );
  const { few: counted = 0, many = 0 } = rows[0] ?? {};
  return counted < fewDocuments ? counted : Math.max(counted, many);
}

const fewDocuments = 5_000;
