import { numberArray } from './bulk.ts';
import type { Queryable } from './database.ts';
import { firstNumbers } from './discovery-keys.ts';
import type { PostingTable } from './discovery-words.ts';

// Words, and where they stand, as a search asks for them. Long lists travel as texts: reading them as rows would take longer than finding them.

export interface KnownWord {
  id: number;
  word: string;
  /** The most that it counts anywhere, in hundredths. */
  best_weight: number;
}

/** The indexed words among these, and those that have one of the hashes of typing errors. */
export async function findWords(
  queryable: Queryable,
  words: readonly string[],
  hashes: readonly number[],
): Promise<KnownWord[]> {
  const { rows } = await queryable.query<KnownWord>(
    `select id, word, best_weight from discovery.word where word = any ($1)
     union
     select id, word, best_weight from discovery.deletion join discovery.word on id = word_id where hash = any ($2::bigint[])`,
    [words, numberArray(hashes)],
    { prepared: true },
  );
  return rows;
}

/** Keys in their order, and beside each what the word counts there, in hundredths. */
export interface Postings {
  keys: number[];
  weights: number[];
}

/** The first postings of each word between two keys. A word without any is left out. */
export async function readPostings(
  queryable: Queryable,
  table: PostingTable,
  wordIds: readonly number[],
  { after = 0, upTo = Number.MAX_SAFE_INTEGER, limit }: { after?: number; upTo?: number; limit: number },
): Promise<Map<number, Postings>> {
  const { rows } = await queryable.query<PostingTexts>(
    `select wanted.id as word_id, keys, weights
     from unnest($1::integer[]) as wanted (id), lateral (
       select string_agg(key::text, ',') as keys, string_agg(weight::text, ',') as weights from (
         select key, weight from discovery.${table} where word_id = wanted.id and key > $2 and key <= $4 order by key limit $3
       ) as first
     ) as texts
     where keys is not null`,
    [numberArray(wordIds), after, limit, upTo],
    { prepared: true },
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
    `select word_id, string_agg(key::text, ',' order by key) as keys, string_agg(weight::text, ',' order by key) as weights
     from discovery.posting
     where word_id = any ($1::integer[]) and key = any ($2::bigint[])
     group by word_id`,
    [numberArray(wordIds), numberArray(keys)],
    { prepared: true },
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

/** The resources of these catalogs, which are given by their own keys. */
export async function readResourceKeys(queryable: Queryable, keys: readonly number[]): Promise<number[]> {
  const { rows } = await queryable.query<{ keys: string | null }>(
    `select string_agg(resource.key::text, ',') as keys
     from unnest($1::bigint[]) as head (key)
     cross join lateral (
       select key from discovery.resource where resource.key > head.key and resource.key < head.key + ${firstOffer} offset 0
     ) as resource`,
    [numberArray(keys)],
    { prepared: true },
  );
  return rows[0]?.keys?.split(',').map(Number) ?? [];
}

const { offer: firstOffer } = firstNumbers;

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
    { prepared: true },
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

const fewDocuments = 1_000;
